// Moments as the shop's clock shows them, whatever the visitor's says: HH:MM, and the day where it is not today. The
// same words as `moment_said` of backoffice/screens/card_words.py.
const ZONE = { timeZone: "Asia/Taipei" };
const TIME = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", ...ZONE });
const DAY = new Intl.DateTimeFormat("en-CA", ZONE); // 2026-11-28

export class Clock {
  // `now`: the server's, when it drew the page.
  constructor(now, language) {
    this.ahead = Date.parse(now) - Date.now();
    this.language = language.startsWith("zh") ? "zh-TW" : "en-US";
  }

  now() {
    return Date.now() + this.ahead;
  }

  time(iso) {
    return TIME.format(new Date(iso));
  }

  moment(iso) {
    const at = new Date(iso);
    const [day, today] = [DAY.format(at), DAY.format(this.now())];
    if (day === today) return this.time(iso);
    const year = day.slice(0, 4) === today.slice(0, 4) ? {} : { year: "numeric" };
    const said = new Intl.DateTimeFormat(this.language, { month: "long", day: "numeric", ...year, ...ZONE });
    return `${said.format(at)} ${this.time(iso)}`;
  }
}
