// Receives webhooks with Next, at /webhooks: verified over their raw bytes, kept once, answered at once. instrumentation.js works them off.
import { handler } from "@gerbang/sdk/webhooks";

export const runtime = "nodejs"; // SQLite is not at the edge
export const dynamic = "force-dynamic";

// Only when an event comes: `next build` reads this file, and is to open no database.
const keep = async (event) => (await import("../../inbox.js")).keep(event);

export const POST = handler({
  // Without one nothing is accepted: 500, and onError says why. `next build` runs without secrets.
  secrets: (process.env.GERBANG_WEBHOOK_SECRET ?? "").split(/,\s*/),
  on: {
    "payment.created": keep,
    "payment.processing": keep,
    "payment.succeeded": keep,
    "payment.failed": keep,
    "payment.expired": keep,
    "payment.canceled": keep,
    other: () => undefined, // types that you do not know are answered with 2xx, too
  },
  onError: (error) => console.error(`webhook: ${error.message}`),
});
