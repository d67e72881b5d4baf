from django.urls import path

import orders.converters  # noqa: F401  (registers `order_number`)
from agent import views

urlpatterns = [
    path("orders/<order_number:number>/chat/messages/", views.say, name="chat-say"),
    path("orders/<order_number:number>/chat/events/", views.events, name="chat-events"),
    path("orders/<order_number:number>/chat/seen/", views.seen, name="chat-seen"),
    path("orders/<order_number:number>/chat/retry/", views.retry, name="chat-retry"),
    path("orders/<order_number:number>/chat/person/", views.ask_for_person, name="chat-person"),
]
