// Makes a page for each webhook event, and one that lists them. Pure.
import type { Page } from "../page.ts";
import { events } from "./contract.ts";
import { fieldTable, fieldsOf } from "./fields.ts";

const SOURCE = "openapi/merchant.json";

export function eventPages(): Page[] {
  return [indexPage(), ...events.map((_event, at) => eventPage(at))];
}

function indexPage(): Page {
  const rows = events.map(({ type, summary }) => `| [\`${type}\`](/docs/events/${type}) | ${summary} |\n`);
  const markdown = `# Events

What your receiver gets. Every event has the same frame: \`id\`, \`type\`, \`created_at\`, \`environment\`, \`api_version\` and \`data\`. Verify the signature over the raw body,
deduplicate by \`id\`, answer 2xx, and work on: [the guide to webhooks](/docs/webhooks) shows how.

| event | when |
|---|---|
${rows.join("")}`;
  return {
    id: "events",
    language: "en",
    section: "Reference",
    order: 20,
    title: "Events",
    markdown,
    source: `${SOURCE}#events`,
  };
}

function eventPage(at: number): Page {
  const event = events[at];
  if (!event) throw new Error(`there is no event ${at}`);
  const { type, summary, schema, example } = event;
  const markdown = `# ${type}

${summary}.

## Body

\`\`\`json
${JSON.stringify(example, null, 2)}
\`\`\`

${fieldTable(fieldsOf(schema), false)}
The headers that come with it, and how to check them, are in [the guide to webhooks](/docs/webhooks).

## Send yourself one

In the sandbox, to the address that is registered. Its data are a sample, and say so: \`data.sample\` is true.

\`\`\`http
POST /v1/sandbox/events/trigger
Idempotency-Key: try-${type.replace(".", "-")}

${JSON.stringify({ type }, null, 2)}
\`\`\`
`;
  return {
    id: `events/${type}`,
    language: "en",
    section: "Reference",
    order: 2000 + at,
    group: "events",
    title: type,
    markdown,
    source: `${SOURCE}#${type}`,
  };
}
