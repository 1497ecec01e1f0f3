// Incidents as RSS 2.0: an item for each update, newest first. Pure.
import { rssTime } from "../ground/clock.ts";
import { type Html, html, pageText } from "../ground/html.ts";
import { type Incident, type IncidentUpdate, endOf } from "./incident.ts";
import type { StatusView } from "./view.ts";
import { words } from "./words.ts";

const ITEMS_MAX = 100;

/** The feed. `root` is the public address without a trailing slash. Values are escaped as in HTML, with numeric references, which XML accepts as well. */
export function statusFeed({ incidents, checkedAt }: StatusView, serviceName: string, root: string): string {
  const items = [...incidents.open, ...incidents.planned, ...incidents.over]
    .flatMap((incident) => incident.updates.map((update) => ({ incident, update })))
    .toSorted((a, b) => b.update.at - a.update.at)
    .slice(0, ITEMS_MAX);
  return `<?xml version="1.0" encoding="UTF-8"?>\n${pageText(
    html`<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom">
      <channel>
        <title>${serviceName} status</title>
        <link>${root}/status</link>
        <description>Incidents and planned work of ${serviceName}.</description>
        <language>en</language>
        <lastBuildDate>${rssTime(items[0]?.update.at ?? checkedAt)}</lastBuildDate>
        <ttl>5</ttl>
        <atom:link href="${root}/status.rss" rel="self" type="application/rss+xml" />
        ${items.map(({ incident, update }) => itemOf(incident, update, root))}
      </channel>
    </rss>`,
  )}\n`;
}

function itemOf(incident: Incident, update: IncidentUpdate, root: string): Html {
  const { incidentId, title, impact, components, startsAt } = incident;
  const { statuses, impacts, components: names, from, until } = words.en;
  const end = endOf(incident);
  const about = components.length === 0 ? "" : ` · ${components.map((one) => names[one]).join(", ")}`;
  // A description is HTML inside XML, so its text is escaped twice.
  const description = pageText(
    html`<p>${update.message}</p>
      <p>
        ${impacts[impact]}${about} · ${from} ${rssTime(startsAt)}${end !== undefined && ` · ${until} ${rssTime(end)}`}
      </p>`,
  );
  return html`<item>
    <title>${title}: ${statuses[update.status].toLowerCase()}</title>
    <link>${root}/status#${incidentId}</link>
    <guid isPermaLink="false">${update.updateId}</guid>
    <pubDate>${rssTime(update.at)}</pubDate>
    <description>${description}</description>
  </item>`;
}
