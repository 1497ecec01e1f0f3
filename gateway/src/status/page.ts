// The status page as HTML: the current state, ninety days of each component, and incidents. It works without scripts. Pure.
import { type Html, documentText, html } from "../ground/html.ts";
import { type Language, dayText, moment, otherLanguages } from "../ground/languages.ts";
import { SCRIPT_PATH, STYLE_PATH } from "./assets.ts";
import { type Incident, type IncidentUpdate, endOf, statusOf } from "./incident.ts";
import { type State, states } from "./states.ts";
import type { ComponentView, DayView, StatusView } from "./view.ts";
import { words } from "./words.ts";

export function statusPage(view: StatusView, language: Language, serviceName: string): string {
  const text = words[language];
  const { open, planned, over } = view.incidents;
  return documentText({
    language,
    title: `${text.overall[view.state]} · ${serviceName}`,
    head: html`<link rel="stylesheet" href="${STYLE_PATH}" />
      <link rel="alternate" type="application/rss+xml" title="${serviceName}" href="/status.rss" />
      <script type="module" src="${SCRIPT_PATH}"></script>`,
    body: html`<body>
      <header>
        <p class="service">${serviceName} <span>${text.title}</span></p>
        <nav>${otherLanguages("/status", language)}</nav>
      </header>
      <main>
        <section class="overall ${view.state}">
          ${mark(view.state)}
          <div>
            <h1>${text.overall[view.state]}</h1>
            <p class="muted">${text.checked} ${moment(view.checkedAt, language)}</p>
          </div>
        </section>
        ${view.isFromMemory && html`<p class="note" role="status">${text.fromMemory}</p>`}
        ${part(text.open, open, language)} ${part(text.planned, planned, language)}
        <section>
          <h2>${text.now}</h2>
          <ul class="components">
            ${view.components.map((one) => componentPart(one, language))}
          </ul>
          <ul class="legend" aria-label="${text.legend}">
            ${states.map((state) => html`<li><i class="${state}"></i>${text.states[state]}</li>`)}
          </ul>
        </section>
        <section>
          <h2>${text.past}</h2>
          ${over.length === 0 ? html`<p class="muted">${text.nothingPast}</p>` : over.map((one) => incidentPart(one, language))}
        </section>
      </main>
      <footer>
        <p><a href="/status.rss">${text.feed}</a> <a href="/status.json">${text.json}</a></p>
        <p class="muted">${text.measuredBy}</p>
      </footer>
    </body>`,
  });
}

function part(title: string, incidents: readonly Incident[], language: Language): Html | false {
  return (
    incidents.length > 0 &&
    html`<section>
      <h2>${title}</h2>
      ${incidents.map((one) => incidentPart(one, language))}
    </section>`
  );
}

const strokes: Readonly<Record<State, Html>> = {
  operational: html`<path d="m7 12.5 3.5 3.5L17 9" />`,
  degraded: html`<path d="M12 7v6m0 3.5v.5" />`,
  outage: html`<path d="m8.5 8.5 7 7m0-7-7 7" />`,
  maintenance: html`<path d="M12 7v5l3 2.5" />`,
  no_data: html`<path d="M8 12h8" />`,
};

/** A mark beside the state's name, so that colour alone never carries the state. */
function mark(state: State): Html {
  return html`<svg class="mark ${state}" viewBox="0 0 24 24" aria-hidden="true">
    <circle cx="12" cy="12" r="10" />
    ${strokes[state]}
  </svg>`;
}

/** The text that describes a day's state. */
function dayWords({ state, minutes }: DayView, language: Language): string {
  const text = words[language];
  const shown = (["outage", "degraded", "maintenance"] as const).flatMap((name) =>
    minutes !== undefined && minutes[name] > 0 ? `${text.states[name]}: ${text.minutes(minutes[name])}` : [],
  );
  return shown.length === 0 ? text.states[state] : shown.join(", ");
}

function componentPart({ component, state, uptime, days }: ComponentView, language: Language): Html {
  const text = words[language];
  const troubled = days.filter((day) => day.state === "outage" || day.state === "degraded");
  const shown = uptime === undefined ? text.notMeasured : text.uptime(uptime.toFixed(2));
  const trouble = troubled.length === 0 ? text.noTrouble : text.troubled(troubled.length);
  return html`<li>
    <p class="line">
      <b>${text.components[component]}</b> <span class="state ${state}">${mark(state)}${text.states[state]}</span>
    </p>
    <svg
      class="days"
      viewBox="0 0 90 10"
      preserveAspectRatio="none"
      role="img"
      aria-label="${text.lastDays}: ${shown}, ${trouble}"
    >
      ${days.map((day, at) => bar(day, at, language))}
    </svg>
    <p class="ends muted"><span>${text.daysAgo}</span> <span>${shown}</span> <span>${text.today}</span></p>
    ${
      troubled.length > 0 &&
      html`<details>
        <summary>${text.troubled(troubled.length)}</summary>
        <ul>
          ${troubled.toReversed().map((day) => html`<li>${dayText(day.day, language)}: ${dayWords(day, language)}</li>`)}
        </ul>
      </details>`
    }
  </li>`;
}

/** Worse states have taller bars, so that bars differ without colour as well. */
const heights: Record<State, number> = { no_data: 3, operational: 7, maintenance: 8, degraded: 9, outage: 10 };

function bar(day: DayView, at: number, language: Language): Html {
  const height = heights[day.state];
  return html`<rect class="${day.state}" x="${at + 0.15}" y="${10 - height}" width="0.7" height="${height}"
    ><title>${dayText(day.day, language)}: ${dayWords(day, language)}</title></rect
  >`;
}

function incidentPart(incident: Incident, language: Language): Html {
  const text = words[language];
  const { incidentId, title, impact, components, startsAt, endsAt, updates } = incident;
  const until = endsAt === undefined ? undefined : endOf(incident);
  return html`<article id="${incidentId}" class="incident ${impact}">
    <h3>${title}</h3>
    <p class="muted">
      <b>${text.statuses[statusOf(incident)]}</b> · ${text.impacts[impact]} · ${text.from} ${moment(startsAt, language)}
      ${until !== undefined && html` · ${text.until} ${moment(until, language)}`}
    </p>
    ${
      components.length > 0 &&
      html`<p class="muted">${text.affects}: ${components.map((one) => text.components[one]).join(", ")}</p>`
    }
    <ol>
      ${updates.toReversed().map((one) => updatePart(one, language))}
    </ol>
  </article>`;
}

function updatePart({ status, message, at, correctedAt }: IncidentUpdate, language: Language): Html {
  const text = words[language];
  return html`<li>
    <p>
      <b>${text.statuses[status]}</b> <span class="muted">${moment(at, language)}</span>
      ${correctedAt !== undefined && html`<span class="muted">· ${text.corrected} ${moment(correctedAt, language)}</span>`}
    </p>
    <p class="message">${message}</p>
  </li>`;
}
