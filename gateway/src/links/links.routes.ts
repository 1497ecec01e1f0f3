// HTTP routes of payment links: create, list, read, deactivate. Payers use links on the payer's page, not here.
import { Fault } from "../ground/fault.ts";
import { idOf, isId } from "../ground/ids.ts";
import type { Clock } from "../ground/clock.ts";
import { reply, type Reply } from "../ground/reply.ts";
import { type Call, type Endpoint, answering, readEndpoint, writeEndpoint } from "../http/endpoint.ts";
import { checkCursor, limitOf, page } from "../http/lists.ts";
import { listSchema, nothing } from "../http/shapes.ts";
import type { PaymentParts } from "../payments/payments.ts";
import type { Database, Row } from "../store/database.ts";
import { judgeCreation } from "./creation-rules.ts";
import { type LinkName, newToken } from "./link-address.ts";
import { type LinkSnapshot, linkView } from "./link.ts";
import {
  type CreateLink,
  type LinksQuery,
  createLinkExamples,
  createLinkRules,
  linkParams,
  linkSchema,
  linksQuerySchema,
} from "./links.schema.ts";
import { selectLink, selectLinks, selectLookedTo, snapshotOfLinkRow } from "./links.sql.ts";
import { createLink, deactivateLink } from "./links.ts";

interface LinkRouteParts extends Pick<PaymentParts, "routingTable" | "isOpen"> {
  database: Database;
  clock: Clock;
  /** The address of a link's page. */
  linkUrl(name: LinkName): string;
}

export function linkEndpoints(parts: LinkRouteParts): Endpoint[] {
  const { database, clock } = parts;
  const view = (snapshot: LinkSnapshot): Record<string, unknown> => {
    const { book, token } = snapshot.link;
    return linkView(snapshot, parts.linkUrl({ merchantId: book.merchantId, token }));
  };
  const find = async ({ params, merchant, book }: Call): Promise<LinkSnapshot> => {
    const uuid = params.uuid ?? "";
    const read = (row: Row): LinkSnapshot => snapshotOfLinkRow(row, clock.now());
    const found = isId("link", uuid) ? await database.first(selectLink(merchant.merchantId, uuid), read) : undefined;
    if (!found) throw new Fault("OBJECT_NOT_FOUND");
    if (found.link.book.environment !== book.environment) throw new Fault("ENVIRONMENT_MISMATCH");
    return found;
  };
  return [
    writeEndpoint<CreateLink>({
      operationId: "createPaymentLink",
      path: "/v1/payment-links",
      summary: "Make a payment link",
      description:
        "Answers with the address of a page where whoever opens it pays you, by the method that they choose. Each use is a payment like any " +
        "other: its events carry the link as `payment_link`.",
      tag: "Payment links",
      scope: "payments:write",
      errors: ["INVALID_AMOUNT", "CURRENCY_NOT_SUPPORTED", "PAYMENT_METHOD_UNAVAILABLE"],
      success: { status: 201, description: "The link, with its address.", schema: linkSchema },
      links: [
        { operationId: "getPaymentLink", description: "Read how it stands.", path: { uuid: "uuid" } },
        { operationId: "deactivatePaymentLink", description: "Close it.", path: { uuid: "uuid" } },
      ],
      body: createLinkRules,
      bodyExamples: createLinkExamples,
      judge: (call, input, found) => judgeCreation(parts, call, input, found),
      command(call, body) {
        return answering(createLink(call, body, newToken()), (snapshot) => reply(201, view(snapshot)));
      },
      lane: "create",
    }),
    readEndpoint({
      operationId: "listPaymentLinks",
      path: "/v1/payment-links",
      summary: "List payment links, newest first",
      description:
        "With `status` a page looks at ten thousand links at most: it may be short, or empty, and have more after it. Go on from `next_cursor` while " +
        "`has_more` is true.",
      tag: "Payment links",
      scope: "payments:read",
      success: { description: "A page of links.", schema: listSchema(linkSchema, "PaymentLinkList") },
      query: linksQuerySchema,
      handle: (call) => listLinks(parts, call, view),
    }),
    readEndpoint({
      operationId: "getPaymentLink",
      path: "/v1/payment-links/{uuid}",
      params: linkParams,
      summary: "Read a payment link",
      tag: "Payment links",
      scope: "payments:read",
      errors: ["OBJECT_NOT_FOUND", "ENVIRONMENT_MISMATCH"],
      success: { description: "The link.", schema: linkSchema },
      handle: async (call) => reply(200, view(await find(call))),
    }),
    writeEndpoint({
      operationId: "deactivatePaymentLink",
      path: "/v1/payment-links/{uuid}/deactivate",
      params: linkParams,
      summary: "Close a payment link",
      description:
        "Nobody begins to pay by it any more. A payment that is open stays open: cancel it by itself. Closing a link again changes nothing; one " +
        "that is paid answers `PAYMENT_NOT_PAYABLE`.",
      tag: "Payment links",
      scope: "payments:write",
      errors: ["OBJECT_NOT_FOUND", "ENVIRONMENT_MISMATCH", "PAYMENT_NOT_PAYABLE"],
      success: { description: "The link, closed.", schema: linkSchema },
      body: { schema: nothing, order: [] },
      command: (call) =>
        answering(deactivateLink(call, call.params.uuid ?? "", call.realNow), (snapshot) => reply(200, view(snapshot))),
    }),
  ];
}

async function listLinks(
  { database, clock }: LinkRouteParts,
  { query, book, merchant }: Call,
  view: (snapshot: LinkSnapshot) => Record<string, unknown>,
): Promise<Reply> {
  const asked = query as LinksQuery;
  const { status, starting_after: after } = asked;
  const limit = limitOf(asked);
  const realNow = clock.now();
  const linkOf = (row: Row) => snapshotOfLinkRow(row, realNow).link;
  await checkCursor(book, after, (id) => database.first(selectLink(merchant.merchantId, id), linkOf));
  const filter = { book, status, realNow, after, limit };
  const rows = await database.query(selectLinks(filter));
  const isSearched = status !== undefined && rows.length <= limit;
  const [stopped] = isSearched ? await database.query(selectLookedTo(filter)) : [];
  const links = rows.map((row) => snapshotOfLinkRow(row, realNow));
  return page(links, asked, view, ({ link }) => link.uuid, stopped && idOf("link", stopped.link_id as string));
}
