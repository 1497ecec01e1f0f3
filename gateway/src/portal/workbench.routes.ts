// Portal endpoints of the sandbox workbench: composing and decoding QRIS texts, and the list of what falls due next by the sandbox's clock.
import { type Clock, type Micros, SECOND, wireTime } from "../ground/clock.ts";
import { idOf } from "../ground/ids.ts";
import { reply } from "../ground/reply.ts";
import { qrisString } from "../acquirers/qris.ts";
import { type QrObject, readQr } from "../acquirers/qris-reading.ts";
import { selectComingDue } from "../sandbox/clock.sql.ts";
import type { Database } from "../store/database.ts";
import { type PortalEndpoint, memberEndpoint } from "./endpoint.ts";
import { comingDueSchema } from "./workbench.schema.ts";
import { composeQrSchema, qrSchema, readQrSchema } from "./qris.schema.ts";

const tag = "Sandbox";
const member = { tag, action: "sandbox:write" } as const;

export function workbenchEndpoints(parts: { database: Database; clock: Clock }): PortalEndpoint[] {
  return [...qrisEndpoints(), comingDueEndpoint(parts)];
}

function qrisEndpoints(): PortalEndpoint[] {
  return [
    memberEndpoint({
      ...member,
      method: "POST",
      changesNothing: true,
      path: "/portal/v1/sandbox/qris/decode",
      operationId: "decodeQris",
      summary: "Read a QRIS text tag by tag",
      description: "Any text is read as far as it can be: what is wrong with it is in `problems`.",
      body: readQrSchema,
      success: { description: "What is in it.", schema: qrSchema },
      handle: async ({ body }) => reply(200, qrView(body.qr_string)),
    }),
    memberEndpoint({
      ...member,
      method: "POST",
      changesNothing: true,
      path: "/portal/v1/sandbox/qris/encode",
      operationId: "encodeQris",
      summary: "Compose a QRIS text",
      description: "Names are written in capitals, as readers show them. No payment belongs to it.",
      body: composeQrSchema,
      success: { description: "The text, and what is in it.", schema: qrSchema },
      handle: async ({ body }) => {
        const { amount_minor: amount } = body;
        const text = qrisString({
          amountMinor: amount === undefined ? undefined : BigInt(amount),
          merchantName: body.merchant_name,
          city: body.city,
          postalCode: body.postal_code,
          categoryCode: body.category_code,
          nationalMerchantId: body.national_merchant_id,
          acquirerDomain: "ID.CO.SANDBOX.WWW",
          merchantPan: body.merchant_pan,
          merchantId: body.merchant_pan.slice(-15),
          billNumber: body.bill_number,
        });
        return reply(200, qrView(text));
      },
    }),
  ];
}

function qrView(text: string) {
  const { objects, crc, problems } = readQr(text);
  const view = ({ tag, name, value, meaning }: QrObject) => ({ tag, name, value, meaning: meaning ?? null });
  return {
    qr_string: text,
    objects: objects.map((object) => ({ ...view(object), objects: object.objects?.map(view) ?? null })),
    crc: { ...crc, stated: crc.stated ?? null },
    problems,
  };
}

const SHOWN_MAX = 25;

function comingDueEndpoint({ database, clock }: { database: Database; clock: Clock }): PortalEndpoint {
  return memberEndpoint({
    ...member,
    method: "GET",
    path: "/portal/v1/sandbox/clock/due",
    operationId: "listComingDue",
    summary: "List what falls due next by the sandbox's clock",
    success: { description: `The next ${SHOWN_MAX}, the soonest first.`, schema: comingDueSchema },
    async handle({ book }) {
      const rows = await database.query(selectComingDue(book, clock.now(), SHOWN_MAX + 1));
      const data = rows.slice(0, SHOWN_MAX).map((row) => {
        const kind = row.kind as keyof typeof kinds;
        const at = row.at as Micros;
        const idKind = kinds[kind];
        return {
          kind,
          at: wireTime(at),
          // Rounded up, so that a clock moved by this many seconds has reached the due time.
          in_seconds: Math.max(1, Math.ceil((at - (row.now as Micros)) / SECOND)),
          id: idKind === undefined || row.id === null ? null : idOf(idKind, row.id as string),
        };
      });
      return reply(200, { data, has_more: rows.length > SHOWN_MAX, next_cursor: null });
    },
  });
}

/** The kind of object whose id is shown beside each kind of due item; undefined when there is no object. */
const kinds = {
  payment_expires: "payment",
  evidence_due: "dispute",
  settlement_paid: "settlement",
  delivery_tried: "event",
  settlement_run: undefined,
} as const;
