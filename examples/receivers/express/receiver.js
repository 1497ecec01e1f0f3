// Receives webhooks with Express: verified over their raw bytes, kept once, answered at once, worked off afterwards.
import { handler } from "@gerbang/sdk/webhooks";
import express from "express";
import { keep, work } from "./inbox.js";

const { GERBANG_WEBHOOK_SECRET, PORT = "3000" } = process.env;
if (!GERBANG_WEBHOOK_SECRET)
  throw new Error("Set GERBANG_WEBHOOK_SECRET: whsec_…, or two with a comma between them during a rotation.");

const app = express();
// Before express.json(): the signature covers the bytes as they came.
app.post(
  "/webhooks",
  handler({
    secrets: GERBANG_WEBHOOK_SECRET.split(/,\s*/),
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
  }),
);
app.listen(Number(PORT), "127.0.0.1");

await work((order) => console.log(`paid: ${order}`)); // in your shop: fulfil it
