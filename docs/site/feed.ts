// The changelog as RSS 2.0, with an item for each change that may affect merchants' programs. Pure.
import { hash } from "node:crypto";
import { escaped } from "./html.ts";
import { ROOT_IN_BUILDS } from "./plain-forms.ts";
import { Slugs } from "./slugs.ts";

/** The groups of changes that merchants' programs depend on. The other groups are only on the page. */
const groups = ["API", "Webhooks", "SDK"];
const ITEMS_MAX = 200;

interface Change {
  version: string;
  group: string;
  anchor: string;
  text: string;
}

/** The feed, from the text of CHANGELOG.md. All items of a version have its date; readers tell new ones by their ids. */
export function changelogFeed(changelog: string): string {
  const changes = changesOf(changelog);
  const newest = publishedOf(changes[0]?.version ?? "");
  const items = changes
    .filter(({ group }) => groups.includes(group))
    .slice(0, ITEMS_MAX)
    .map(itemOf);
  return `<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom">
<channel>
<title>Gerbang: changes</title>
<link>${ROOT_IN_BUILDS}/docs/changelog</link>
<description>What changed in the API, the webhooks and the client libraries.</description>
<language>en</language>${newest}
<atom:link href="${ROOT_IN_BUILDS}/docs/changelog.rss" rel="self" type="application/rss+xml"/>
${items.join("\n")}
</channel>
</rss>
`;
}

/** The entries of a changelog: versions are headings of the second level, groups of the third, entries items of a list. */
function changesOf(changelog: string): Change[] {
  const slugs = new Slugs();
  const changes: Change[] = [];
  let version = "";
  let group = "";
  let anchor = "";
  for (const line of changelog.split("\n")) {
    const [, marks, heading = ""] = /^(#{1,6}) (.+)$/.exec(line) ?? [];
    const [, item] = /^- (.+)$/.exec(line) ?? [];
    const last = changes.at(-1);
    if (marks !== undefined) {
      anchor = slugs.of(heading);
      if (marks.length === 2) version = heading;
      if (marks.length === 3) group = heading;
    } else if (item !== undefined) {
      changes.push({ version, group, anchor, text: item });
    } else if (/^ {2}\S/.test(line) && last) {
      last.text += ` ${line.trim()}`;
    }
  }
  return changes;
}

function itemOf({ version, group, anchor, text }: Change): string {
  const readable = text.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, "$1").replaceAll("`", "");
  const [first = readable] = /^.{20,140}?[.:;](?= |$)/.exec(readable) ?? [readable.slice(0, 140)];
  return `<item>
<title>${escaped(`${group}: ${first.replace(/[.:;]$/, "")}`)}</title>
<link>${ROOT_IN_BUILDS}/docs/changelog#${anchor}</link>
<guid isPermaLink="false">${hash("sha256", `${group}\n${text}`).slice(0, 32)}</guid>${publishedOf(version)}
<category>${escaped(version)}</category>
<description>${escaped(escaped(readable))}</description>
</item>`;
}

/** A pubDate line with the date in a version's heading, at midnight UTC because RSS demands a time; empty when the heading has no date. */
function publishedOf(version: string): string {
  const [date] = /\d{4}-\d\d-\d\d/.exec(version) ?? [];
  return date === undefined ? "" : `\n<pubDate>${new Date(`${date}T00:00:00Z`).toUTCString()}</pubDate>`;
}
