// Portal endpoints for a merchant's figures: payments over time, the home page, and the stream of changes.
import { ownedView } from "../balances/owned.ts";
import { wireTime, wireTimeOrNull } from "../ground/clock.ts";
import { idOf } from "../ground/ids.ts";
import { exponentOf, wireAmount, wireMinor } from "../ground/money.ts";
import { type Reply, reply } from "../ground/reply.ts";
import { ZONE_DEFAULT } from "../ground/time-zones.ts";
import { BATCHES_SHOWN, WAITING_MAX } from "../insights/figures.sql.ts";
import { type Count, DAYS_SHOWN, type Figures, type Overview, ranges, sum } from "../insights/figures.ts";
import { localDate } from "../merchants/settlement-schedule.ts";
import type { Streams } from "../insights/stream.ts";
import { type NextPayout, type Outlooks, payoutDay } from "../settlements/outlook.ts";
import { type MemberCall, type PortalEndpoint, memberEndpoint } from "./endpoint.ts";
import { overviewQuery, overviewSchema, paymentsSeriesSchema, seriesQuery, streamSchema } from "./insights.schema.ts";

const tag = "Insights";

interface InsightsParts {
  figures: Figures;
  streams: Streams;
  outlooks: Outlooks;
}

export function insightsEndpoints({ figures, streams, outlooks }: InsightsParts): PortalEndpoint[] {
  return [
    memberEndpoint({
      method: "GET",
      path: "/portal/v1/overview",
      operationId: "getOverview",
      summary: "Read what came in, what is yours, what is paid out when, and what waits for you",
      tag,
      action: "payments:read",
      query: overviewQuery,
      success: { description: "How the merchant stands.", schema: overviewSchema },
      async handle(call) {
        const { scopes } = call.principal;
        const seen = {
          balances: scopes.has("balances:read"),
          settlements: scopes.has("settlements:read"),
          disputes: scopes.has("disputes:read"),
          events: scopes.has("events:read"),
        };
        const [overview, next] = await Promise.all([
          figures.overview(call.book, call.query.time_zone ?? call.person.timeZone ?? ZONE_DEFAULT, seen),
          seen.settlements ? outlooks.next(call) : new Map<string, NextPayout>(),
        ]);
        return reply(200, overviewView(call, overview, next));
      },
    }),
    memberEndpoint({
      method: "GET",
      path: "/portal/v1/insights/payments",
      operationId: "getPaymentsOverTime",
      summary: "Read payments over time, by method, acquirer or outcome",
      description: "Each payment counts once, when it came to its end.",
      tag,
      action: "payments:read",
      query: seriesQuery,
      success: { description: "A series for each.", schema: paymentsSeriesSchema },
      async handle({ book, person, query }) {
        const { range, by, currency, time_zone: timeZone = person.timeZone ?? ZONE_DEFAULT } = query;
        const series = await figures.series(book, { range, by, currency, timeZone });
        const data = [...series.counts].map(([key, points]) => ({ key, points, total: sum(points) }));
        return reply(200, {
          environment: book.environment,
          currency,
          exponent: exponentOf(currency),
          step: ranges[range].step,
          at: series.begins.map(wireTime),
          data: data
            .toSorted((a, b) => Number(b.total.payments - a.total.payments) || (a.key < b.key ? -1 : 1))
            .map(({ key, total, points }) => ({ key, total: countView(total), points: points.map(countView) })),
          counted_at: wireTimeOrNull(series.countedAt),
        });
      },
    }),
    memberEndpoint({
      method: "GET",
      path: "/portal/v1/stream",
      operationId: "streamChanges",
      summary: "Hear of what changes, as it does",
      description:
        "Goes on until the session ends. What your role does not see is not told. A comment comes at least every 15 seconds.",
      tag,
      action: "payments:read",
      success: {
        description: "Events until somebody hangs up.",
        schema: streamSchema,
        mediaType: "text/event-stream",
      },
      async handle(call): Promise<Reply> {
        const { personId, sessionId } = call.session;
        const listener = { book: call.book, personId, sessionId, scopes: call.principal.scopes };
        const stream = await streams.listen(listener, call.header("last-event-id"));
        return { status: 200, body: "", stream, contentType: "text/event-stream; charset=utf-8" };
      },
    }),
  ];
}

function countView({ payments, succeeded, amountMinor }: Count) {
  return { payments: Number(payments), succeeded: Number(succeeded), amount_minor: wireMinor(amountMinor) };
}

function overviewView({ book, merchant }: MemberCall, overview: Overview, next: ReadonlyMap<string, NextPayout>) {
  const { week, balances, batches, disputes, deliveries, nextRunAt } = overview;
  const { settings } = merchant;
  const ofBalances = [...(balances?.keys() ?? [])].map((name) => name.split(" ")[1] as string);
  const currencies = [...new Set([...settings.currencies, ...week.keys(), ...ofBalances])].toSorted();
  return {
    environment: book.environment,
    as_of: wireTime(overview.now),
    counted_at: wireTimeOrNull(overview.countedAt),
    currencies: currencies.map((currency) => ({
      currency,
      exponent: exponentOf(currency),
      today: periodView(week.get(currency), DAYS_SHOWN - 1, DAYS_SHOWN),
      yesterday: periodView(week.get(currency), DAYS_SHOWN - 2, DAYS_SHOWN - 1),
      week: periodView(week.get(currency), 0, DAYS_SHOWN),
      balance: balances ? ownedView((account) => balances.get(`${account} ${currency}`)) : null,
    })),
    payouts: batches
      ? {
          next_run_at: wireTimeOrNull(nextRunAt),
          next_payout_date: nextRunAt === undefined ? null : payoutDay(settings.settlement, nextRunAt, overview.now),
          next: [...next].map(([currency, { payments, netMinor, isLeast }]) => ({
            currency,
            exponent: exponentOf(currency),
            payments,
            amount_minor: wireAmount(netMinor),
            is_least: isLeast,
          })),
          batches: batches.slice(0, BATCHES_SHOWN).map((batch) => ({
            uuid: idOf("settlement", batch.settlement_id),
            currency: batch.currency,
            exponent: exponentOf(batch.currency),
            amount_minor: wireMinor(batch.net_minor),
            payout_date: batch.payout_date,
            is_late: batch.payout_date < localDate(settings.settlement, overview.now),
          })),
          has_more: batches.length > BATCHES_SHOWN,
        }
      : null,
    waiting: {
      disputes: disputes
        ? {
            ...counted(disputes[0]?.disputes ?? 0),
            next: disputes.map((dispute) => ({
              uuid: idOf("dispute", dispute.dispute_id),
              payment_reference: idOf("payment", dispute.payment_id),
              reason: dispute.reason,
              amount_minor: wireMinor(dispute.amount_minor),
              currency: dispute.currency,
              exponent: exponentOf(dispute.currency),
              evidence_due_at: wireTime(dispute.evidence_due_at),
            })),
          }
        : null,
      undelivered: deliveries ? counted(deliveries.undelivered) : null,
      retrying: deliveries ? counted(deliveries.retrying) : null,
      endpoint: deliveries ? endpointOf(merchant.webhooks[book.environment]?.url, deliveries) : null,
    },
  };
}

function periodView(outcomes: ReadonlyMap<string, readonly Count[]> | undefined, from: number, before: number) {
  const ended = [...(outcomes ?? [])].map(([outcome, days]) => ({ outcome, count: sum(days.slice(from, before)) }));
  const all = sum(ended.map(({ count }) => count));
  return {
    ...countView(all),
    fee_minor: wireMinor(all.feeMinor),
    outcomes: Object.fromEntries(
      ended.filter(({ count }) => count.payments > 0n).map(({ outcome, count }) => [outcome, Number(count.payments)]),
    ),
  };
}

function counted(count: number): { count: number; has_more: boolean } {
  return { count: Math.min(count, WAITING_MAX), has_more: count > WAITING_MAX };
}

function endpointOf(url: string | undefined, { retrying, undelivered }: NonNullable<Overview["deliveries"]>) {
  if (url === undefined) return "missing";
  return retrying + undelivered > 0 ? "failing" : "well";
}
