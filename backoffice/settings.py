"""Every setting of the product, read from the environment once and checked here.

A malformed or missing value raises `ImproperlyConfigured` with one sentence that names the variable; `.env.example`
lists all of them.
"""

import re

from celery.schedules import crontab
from django.core.exceptions import ImproperlyConfigured
from kombu import Exchange, Queue

from agent import save_points
from backoffice import logs
from backoffice.environment import BASE_DIR, address, addresses, boolean, env, number, parsed, read, text
from backoffice.setting_values import closed_days, price_table, weekly_hours

DEBUG = boolean("DEBUG", False)
SECRET_KEY = read("SECRET_KEY", env.str, expected="a long random text that is kept secret")
if len(SECRET_KEY) < 32:
    raise ImproperlyConfigured("SECRET_KEY is too short: it must be a random text of at least 32 characters.")
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])
CSRF_TRUSTED_ORIGINS = addresses("CSRF_TRUSTED_ORIGINS", ("http://", "https://"))
CSRF_FAILURE_VIEW = "backoffice.errors.csrf_failure"

INSTALLED_APPS = [
    "backoffice",
    "backoffice.admin_site.BackofficeAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "django_htmx",
    "django_prometheus",
    "rest_framework",
    "rest_framework.authtoken",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "orders",
    "refunds",
    "agent",
]

MIDDLEWARE = [
    "backoffice.middleware.request_id",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "backoffice.middleware.security_headers",
    "backoffice.middleware.explained_methods",
    "backoffice.middleware.dialogs",
    "django_htmx.middleware.HtmxMiddleware",
]

ROOT_URLCONF = "backoffice.urls"
ASGI_APPLICATION = "backoffice.asgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "backoffice.context.site",
            ],
            "builtins": ["backoffice.templatetags.desk"],
        },
    }
]

# Locks must mean the same in every run, so PostgreSQL is the only database. `CONN_MAX_AGE` stays 0 because the pool
# keeps the connections; a larger value would run out of them under ASGI.
DATABASES = {"default": read("DATABASE_URL", env.db_url, expected="an address like postgres://user:password@host/name")}
if DATABASES["default"].get("ENGINE") != "django.db.backends.postgresql":
    raise ImproperlyConfigured("DATABASE_URL has a value that cannot be used: it must start with postgres://.")
DATABASES["default"]["CONN_MAX_AGE"] = 0
DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
DATABASES["default"].setdefault("OPTIONS", {})["pool"] = {
    "min_size": 1,
    "max_size": number("DATABASE_POOL_SIZE", 40, lowest=2),
    "timeout": 10,
}
# Of Celery's workers alone (`backoffice/waits.py`); a migration may take as long as it needs. 0: no limit.
DATABASE_LOCK_SECONDS = number("DATABASE_LOCK_SECONDS", 30, lowest=0)
DATABASE_STATEMENT_SECONDS = number("DATABASE_STATEMENT_SECONDS", 120, lowest=0)
DATABASE_IDLE_SECONDS = number("DATABASE_IDLE_SECONDS", 120, lowest=0)

REDIS_URL = address("REDIS_URL", ("redis://", "rediss://", "unix://"))

CELERY_BROKER_URL = REDIS_URL
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_DEFAULT_QUEUE = "celery"
# What brings lost work back must not wait behind the work: turns may all sit before a silent model, refunds before a
# slow gateway. Calls to the shop's own server wait for a stranger, so nothing else of value waits with them.
CELERY_TASK_ROUTES = {
    "agent.tasks.sweep": {"queue": "sweep"},
    "refunds.tasks.sweep": {"queue": "sweep"},
    "refunds.tasks.compare_books": {"queue": "sweep"},
    "refunds.tasks.raise_overdue": {"queue": "sweep"},
    "refunds.tasks.mail_alert": {"queue": "shop"},
    "agent.tasks.send_mails": {"queue": "shop"},
    # Written one list after the other, by the one thread that it has there.
    "backoffice.tasks.write_exports": {"queue": "sweep"},
    "orders.*": {"queue": "shop"},
    "agent.*": {"queue": "chat"},
    "refunds.*": {"queue": "money"},
}
# The broker keeps no account of who runs a turn: the lease in the database does, and the sweeper brings a lost turn
# back long before the broker would. To book every job out and in again cost a third of a worker's time.
CELERY_TASK_QUEUES = [Queue("chat", Exchange("chat"), routing_key="chat", no_ack=True)]
# Each must have a worker, or /readyz is not green.
WORKER_QUEUES = ("chat", "money", "sweep", "shop")
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
# A task that outlives this is delivered a second time. Leases in the database make that harmless; the sweepers, not the
# broker, are what brings lost work back.
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": 6 * 3600,
    # Whoever sends a job waits for it: with a broker that is away the default keeps a customer's request for 6 seconds.
    "max_retries": 1,
    "interval_start": 0,
    "interval_step": 0.2,
    "interval_max": 0.2,
}
CELERY_TIMEZONE = "Asia/Taipei"
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
SWEEP_SECONDS = number("SWEEP_SECONDS", 10, lowest=1)
CELERY_BEAT_SCHEDULE = {
    name: {"task": name, "schedule": SWEEP_SECONDS, "options": {"expires": SWEEP_SECONDS}}
    for name in (
        "agent.tasks.sweep",
        "agent.tasks.send_mails",
        "refunds.tasks.sweep",
        "orders.tasks.sweep",
        "backoffice.tasks.write_exports",
    )
} | {
    # At night, when acquirers have closed the day; both find the same again, so a lost round is made up for.
    "refunds.tasks.compare_books": {"task": "refunds.tasks.compare_books", "schedule": crontab(hour=3, minute=30)},
    "refunds.tasks.raise_overdue": {"task": "refunds.tasks.raise_overdue", "schedule": crontab(minute=15)},
}

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "front"
LOGOUT_REDIRECT_URL = "login"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = boolean("SECURE_COOKIES", False)
SECURE_CONTENT_TYPE_NOSNIFF = True
X_FRAME_OPTIONS = "DENY"

LANGUAGE_CODE = "zh-hant"
LANGUAGES = [("zh-hant", "繁體中文"), ("en", "English")]
LOCALE_PATHS = [BASE_DIR / "locale"]
FORMAT_MODULE_PATH = "backoffice.formats"
TIME_ZONE = "Asia/Taipei"
USE_I18N = USE_TZ = True

STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = BASE_DIR / "staticfiles"
WHITENOISE_USE_FINDERS = True

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "rest_framework.authentication.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["backoffice.json_bodies.JsonBodies"],
    "DEFAULT_SCHEMA_CLASS": "backoffice.api_page.Described",
    "DEFAULT_PAGINATION_CLASS": "backoffice.api.Pages",
    "PAGE_SIZE": 20,
    "EXCEPTION_HANDLER": "backoffice.api.one_error_object",
    "UNICODE_JSON": True,
    "LIST_SERIALIZER_ERRORS_AS_DICT": True,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Refund Desk API",
    "DESCRIPTION": "Orders, refund quotes and refunds. Amounts are integers of the currency's smallest unit in use.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "ENFORCE_NON_BLANK_FIELDS": True,
    # Several kinds and states share a field's name; each keeps a name of its own on the API page.
    "ENUM_NAME_OVERRIDES": {
        "DiscountKindEnum": "orders.states.DiscountKind",
        "ShipmentStateEnum": "orders.states.ShipmentState",
        "AllocationStateEnum": "refunds.states.AllocationState",
        "QuoteStateEnum": "refunds.states.QuoteState",
        "RefundStateEnum": "refunds.states.RefundState",
        "ReturnKindEnum": "refunds.states.ReturnKind",
        "ReturnStateEnum": "refunds.states.ReturnState",
        "RefundKindEnum": "refunds.states.RefundKind",
        "FoundStateEnum": "refunds.states.FoundState",
        "ReplacementKindEnum": "refunds.states.ReplacementKind",
        "ReplacementStateEnum": "refunds.states.ReplacementState",
        "ApprovalKindEnum": "refunds.states.ApprovalKind",
        "ApprovalStateEnum": "refunds.states.ApprovalState",
        "PolicyStateEnum": "refunds.states.PolicyState",
        "AlertKindEnum": "refunds.states.AlertKind",
        "CreditKindEnum": "orders.states.CreditKind",
        "ReasonEnum": "refunds.states.Reason",
    },
}

# --- the product's own settings ---------------------------------------------------------------------------------------
SHOP_NAME = env.str("SHOP_NAME", default="好聲音 GoodSound")
RETURN_ADDRESS = env.str("RETURN_ADDRESS", default="").strip()
if "\n" in RETURN_ADDRESS or len(RETURN_ADDRESS) > 200:
    raise ImproperlyConfigured("RETURN_ADDRESS must be one line of at most 200 characters.")
PAYMENT_GATEWAY = env.str("PAYMENT_GATEWAY", default="simulated")
if PAYMENT_GATEWAY not in {"simulated", "stripe"}:
    raise ImproperlyConfigured(f"PAYMENT_GATEWAY is {PAYMENT_GATEWAY!r}: it must be simulated or stripe.")
GATEWAY_TIMEOUT_SECONDS = number("GATEWAY_TIMEOUT_SECONDS", 10, lowest=1)
STRIPE_API_KEY = env.str("STRIPE_API_KEY", default="").strip()
if PAYMENT_GATEWAY == "stripe" and not STRIPE_API_KEY.startswith(("sk_", "rk_")):
    raise ImproperlyConfigured(
        "STRIPE_API_KEY has a value that cannot be used: with PAYMENT_GATEWAY=stripe it must be "
        "a secret key of Stripe, which starts with sk_ or rk_."
    )
STRIPE_WEBHOOK_SECRET = env.str("STRIPE_WEBHOOK_SECRET", default="").strip()
if STRIPE_WEBHOOK_SECRET and len(STRIPE_WEBHOOK_SECRET) < 16:
    raise ImproperlyConfigured(
        "STRIPE_WEBHOOK_SECRET is too short: it must be the signing secret of the webhook endpoint, which starts with "
        "whsec_."
    )
STRIPE_API_BASE = address("STRIPE_API_BASE", ("http://", "https://"), default="https://api.stripe.com")
CARRIER_TIMEOUT_SECONDS = number("CARRIER_TIMEOUT_SECONDS", 3, lowest=1)
ORDER_WEBHOOK_URL = address("ORDER_WEBHOOK_URL", ("http://", "https://"), default="")
ORDER_WEBHOOK_SECRET = env.str("ORDER_WEBHOOK_SECRET", default="")
if ORDER_WEBHOOK_URL and len(ORDER_WEBHOOK_SECRET) < 16:
    raise ImproperlyConfigured(
        "ORDER_WEBHOOK_SECRET is too short: with ORDER_WEBHOOK_URL it must be a random text of at least 16 characters."
    )
CUSTOMER_LINK_DAYS = number("CUSTOMER_LINK_DAYS", 14, lowest=1)
RETURN_SEND_BY_DAYS = number("RETURN_SEND_BY_DAYS", 30, lowest=1)
# Alerts are kept and shown to staff in any case; with an address they also go there.
STAFF_ALERT_EMAIL = env.str("STAFF_ALERT_EMAIL", default="").strip()
if STAFF_ALERT_EMAIL and not re.fullmatch(r"[^@\s,;<>]+@[^@\s,;<>]+", STAFF_ALERT_EMAIL):
    raise ImproperlyConfigured("STAFF_ALERT_EMAIL has a value that cannot be used: it must be one e-mail address.")
CUSTOMER_MAIL_AFTER_SECONDS = number("CUSTOMER_MAIL_AFTER_SECONDS", 60, lowest=1)
CUSTOMER_MAIL_BEFORE_EXPIRY_MINUTES = number("CUSTOMER_MAIL_BEFORE_EXPIRY_MINUTES", 5, lowest=1)
DEFAULT_FROM_EMAIL = text("DEFAULT_FROM_EMAIL", "refund-desk@localhost", expected="the e-mail address of the sender")
vars().update(
    read(
        "EMAIL_URL",
        env.email_url,
        expected="an address like smtp+tls://user:password@host:587 or consolemail://",
        default="consolemail://",
    )
)
EMAIL_TIMEOUT = 10
METRICS_TOKEN = env.str("METRICS_TOKEN", default="")
# Shows the demo accounts at the sign-in page. Never set it where real orders are.
DEMO = boolean("DEMO", False)
SITE_URL = address("SITE_URL", ("http://", "https://"), default="http://localhost:8000")

ANTHROPIC_API_KEY = env.str("ANTHROPIC_API_KEY", default="")
ANTHROPIC_BASE_URL = address("ANTHROPIC_BASE_URL", ("http://", "https://"), default="https://api.anthropic.com")
AGENT_MODEL = text("AGENT_MODEL", "claude-sonnet-5-5", expected="the id of a model")
AGENT_IS_STAND_IN = boolean("AGENT_IS_STAND_IN", False)
AGENT_MAX_STEPS = number("AGENT_MAX_STEPS", 12, lowest=1)
AGENT_MAX_TURN_SECONDS = number("AGENT_MAX_TURN_SECONDS", 180, lowest=5)
AGENT_MAX_TURN_TOKENS = number("AGENT_MAX_TURN_TOKENS", 400_000, lowest=1000)
AGENT_MAX_TOOL_CALLS_PER_TURN = number("AGENT_MAX_TOOL_CALLS_PER_TURN", 24, lowest=1)
AGENT_MAX_SAME_CALLS = number("AGENT_MAX_SAME_CALLS", 3, lowest=1)
AGENT_MAX_TURNS_PER_CONVERSATION = number("AGENT_MAX_TURNS_PER_CONVERSATION", 200, lowest=1)
AGENT_MAX_TURNS_PER_CUSTOMER_DAY = number("AGENT_MAX_TURNS_PER_CUSTOMER_DAY", 300, lowest=1)
AGENT_MAX_CENTS_PER_CONVERSATION = number("AGENT_MAX_CENTS_PER_CONVERSATION", 500, lowest=1)
AGENT_MAX_CENTS_PER_CUSTOMER_DAY = number("AGENT_MAX_CENTS_PER_CUSTOMER_DAY", 1000, lowest=1)
COPILOT_MAX_CENTS_PER_STAFF_DAY = number("COPILOT_MAX_CENTS_PER_STAFF_DAY", 500, lowest=1)
AGENT_MAX_CONTEXT_TOKENS = number("AGENT_MAX_CONTEXT_TOKENS", 60_000, lowest=4000)
MODEL_PRICES = parsed(
    "MODEL_PRICES",
    "claude-opus-5-5=5/6.25/0.5/25 claude-sonnet-5-5=3/3.75/0.3/15 claude-haiku-5-5=1/1.25/0.1/5 *=3/3.75/0.3/15",
    price_table,
    expected="four prices by the beginning of a model's id, like claude-sonnet-5-5=3/3.75/0.3/15 *=3/3.75/0.3/15",
)
OFFICE_HOURS = parsed(
    "OFFICE_HOURS",
    "mon-fri 09:00-18:00",
    weekly_hours,
    expected="days and hours like mon-fri 09:00-18:00, several of them after commas, or empty for always",
)
# After so many minutes of waiting for a person the inbox says so in another colour.
INBOX_WAIT_MINUTES = number("INBOX_WAIT_MINUTES", 5, lowest=1)
INBOX_LATE_MINUTES = number("INBOX_LATE_MINUTES", 15, lowest=1)
CLOSED_DAYS = parsed(
    "CLOSED_DAYS",
    "",
    closed_days,
    expected="days like 2027-02-08, or 01-01 for one of every year, several of them after commas, or empty for none",
)
AGENT_MAX_OUTPUT_TOKENS = number("AGENT_MAX_OUTPUT_TOKENS", 2048, lowest=64)
AGENT_MODEL_TIMEOUT_SECONDS = number("AGENT_MODEL_TIMEOUT_SECONDS", 60, lowest=1)
AGENT_LEASE_SECONDS = number("AGENT_LEASE_SECONDS", 15, lowest=3)
AGENT_LATE_SECONDS = number("AGENT_LATE_SECONDS", 120, lowest=30)
AGENT_DIE_AT = parsed(
    "AGENT_DIE_AT",
    "",
    save_points.death,
    expected="a point of agent/save_points.py and which time, like reply_kept.before:1, or empty",
)
CHAT_MESSAGES_PER_MINUTE = number("CHAT_MESSAGES_PER_MINUTE", 20, lowest=1)
CHAT_MESSAGE_MAX_CHARACTERS = number("CHAT_MESSAGE_MAX_CHARACTERS", 2000, lowest=1)

LOG_LEVEL = env.str("LOG_LEVEL", default="INFO").upper()
if LOG_LEVEL not in {"DEBUG", "INFO", "WARNING", "ERROR"}:
    raise ImproperlyConfigured(f"LOG_LEVEL is {LOG_LEVEL!r}: it must be DEBUG, INFO, WARNING or ERROR.")
LOGGING = logs.logging_settings(LOG_LEVEL)
logs.configure_structlog()
