from django.urls import path

from orders import views

urlpatterns = [path("l/<str:token>/", views.enter_by_link, name="enter-by-link")]
