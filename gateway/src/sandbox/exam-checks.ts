// What the receiver exam checks: what is sent, which answer is right, and how the guide says to do it.
import type { EventType } from "../events/event.ts";
import type { Micros } from "../ground/clock.ts";
import { forged, reordered, stale, unheardOf } from "../webhooks/misbehaviour.ts";
import { type AttemptResult, DELIVERY_TIMEOUT_MS, type OutgoingDelivery } from "../webhooks/sender.ts";

export const checkNames = [
  "accepts_genuine",
  "refuses_bad_signature",
  "refuses_altered_body",
  "refuses_old_timestamp",
  "accepts_unknown_type",
  "accepts_duplicate",
  "answers_in_time",
  "tolerates_byte_order",
] as const;
export type CheckName = (typeof checkNames)[number];

export interface Check {
  /** The sample that is sent. */
  type: EventType;
  /** What becomes of the genuine delivery. */
  change: (delivery: OutgoingDelivery, now: Micros) => OutgoingDelivery;
  /** How often it is sent, one after another, as long as the answers are right. */
  times: number;
  isRight: (result: AttemptResult) => boolean;
  /** The right answer, to be read after "expected". */
  expected: string;
  /** A paragraph of docs/guides/webhooks.md, and the heading that it stands under. */
  guide: { anchor: string; text: string };
}

const genuine = (delivery: OutgoingDelivery): OutgoingDelivery => delivery;

const accepted = { times: 1, isRight: (result: AttemptResult) => result.succeeded, expected: "2xx" };

const refused = {
  times: 1,
  // An answer of 5xx is an accident, not a refusal.
  isRight: ({ status = 0 }: AttemptResult) => status >= 400 && status < 500,
  expected: "a refusal, 400 to 499",
};

export const checks: Record<CheckName, Check> = {
  accepts_genuine: {
    ...accepted,
    type: "payment.created",
    change: genuine,
    guide: {
      anchor: "accept-what-is-genuine",
      text: "Answer every genuine delivery with 2xx, whatever your business makes of the event. Redirects are not followed, and anything but 2xx brings the same event again.",
    },
  },
  refuses_bad_signature: {
    ...refused,
    type: "payment.succeeded",
    change: forged,
    guide: {
      anchor: "verify-before-anything-else",
      text: "Compute the HMAC-SHA256 of the timestamp header, a dot and the body, keyed with your webhook secret, and compare it with the signature header in constant time. When they differ, answer 401 and do nothing else: anyone can find out your address.",
    },
  },
  refuses_altered_body: {
    ...refused,
    type: "payment.succeeded",
    change: altered,
    guide: {
      anchor: "verify-before-anything-else",
      text: "Let the signature cover the whole body that you go on to use. A signature that is only looked for, or computed over some of the fields, lets a stranger change an amount on its way.",
    },
  },
  refuses_old_timestamp: {
    ...refused,
    type: "payment.succeeded",
    change: stale,
    guide: {
      anchor: "refuse-what-is-old",
      text: "Refuse a delivery whose timestamp differs from your clock by more than 300 seconds, even if its signature is right: someone may have kept it to send it again. Each attempt of ours carries a timestamp of its own.",
    },
  },
  accepts_unknown_type: {
    ...accepted,
    type: "payment.created",
    change: unheardOf,
    guide: {
      anchor: "ignore-what-you-do-not-know",
      text: "Answer 2xx to an event type that you do not know, and do nothing else. The list of types will grow, and so will the fields of the objects.",
    },
  },
  accepts_duplicate: {
    ...accepted,
    times: 2,
    type: "refund.succeeded",
    change: genuine,
    guide: {
      anchor: "expect-the-same-event-twice",
      text: "Keep the identities of events under a unique key, in the transaction of what you make of them. When an identity is there already, answer 2xx and do nothing: the same event may arrive more than once, even at the same time.",
    },
  },
  answers_in_time: {
    type: "payment.succeeded",
    change: genuine,
    times: 1,
    isRight: ({ status, durationMs }) => status !== undefined && durationMs <= DELIVERY_TIMEOUT_MS,
    expected: "an answer within 10 seconds",
    guide: {
      anchor: "answer-first-work-later",
      text: "Store the event, answer, and work afterwards. Whoever fulfils the order, sends the mail or calls another service before answering will one day take longer than 10 seconds, and the same event comes again.",
    },
  },
  tolerates_byte_order: {
    ...accepted,
    type: "payment.expired",
    change: reordered,
    guide: {
      anchor: "verify-before-anything-else",
      text: "Verify the bytes as they came, before parsing. Parsed and written again, the same JSON may have its fields in another order, other spaces or other escapes, and no signature fits.",
    },
  },
};

/** On its way somebody changed the amount; what is signed is what was sent. */
function altered(delivery: OutgoingDelivery): OutgoingDelivery & { signedBody: string } {
  const event = JSON.parse(delivery.body) as { data: { amount_minor: number } };
  event.data.amount_minor += 1;
  return { ...delivery, body: JSON.stringify(event), signedBody: delivery.body };
}
