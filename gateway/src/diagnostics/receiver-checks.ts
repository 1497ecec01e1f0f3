// The checks of the receiver test: the deliveries of each, the right answer, and the part of the guide that explains it.
import type { EventType } from "../events/event.ts";
import type { Micros } from "../ground/clock.ts";
import { forged, reordered, stale, unheardOf } from "../webhooks/fault-injection.ts";
import type { AttemptResult, OutgoingDelivery } from "../webhooks/sender.ts";

/** Makes the genuine delivery of a sample event. `about` replaces fields of its data, `secondsAgo` sets when the event happened. */
export type Make = (
  type: EventType,
  event?: { secondsAgo?: number; about?: Record<string, unknown> },
) => OutgoingDelivery;

export interface Check {
  /** The deliveries of the check, a round at a time: the next follows while all answers are right. `now` is the book's time. */
  rounds: (make: Make, now: Micros) => OutgoingDelivery[][];
  /** `deadlineMs` is the time that the sender waits for a status line. */
  isRight: (result: AttemptResult, deadlineMs: number) => boolean;
  /** The right answer, in words that follow "expected". */
  expected: string;
  /** A paragraph of docs/guides/webhooks.md, and the anchor of its heading. */
  guide: { anchor: string; text: string };
}

/** Age of a late event: older than a receiver might expect, and before the last attempt of the schedule. */
const LATE_SECONDS = 3_600;

const accepted = { isRight: (result: AttemptResult) => result.succeeded, expected: "2xx" };

const refused = {
  // A 5xx answer is a failure of the receiver, not a refusal.
  isRight: ({ status = 0 }: AttemptResult) => status >= 400 && status < 500,
  expected: "a refusal, 400 to 499",
};

export const checks = {
  accepts_genuine: {
    ...accepted,
    rounds: (make) => [[make("payment.created")]],
    guide: {
      anchor: "accept-what-is-genuine",
      text: "Answer every genuine delivery with 2xx, whatever your business does with the event. We do not follow redirects, and after any answer but 2xx we send the same event again.",
    },
  },
  refuses_bad_signature: {
    ...refused,
    rounds: (make) => [[forged(make("payment.succeeded"))]],
    guide: {
      anchor: "verify-before-anything-else",
      text: "Compute the HMAC-SHA256 of the timestamp header, a dot and the body, keyed with your webhook secret, and compare it with the signature header in constant time. If they differ, answer 401 and do nothing else: anyone can find out your address.",
    },
  },
  refuses_altered_body: {
    ...refused,
    rounds: (make) => [[altered(make("payment.succeeded"))]],
    guide: {
      anchor: "verify-before-anything-else",
      text: "Verify the signature over the whole body that you use afterwards. A receiver that only checks whether a signature is present, or verifies only some of the fields, lets a stranger change an amount in transit.",
    },
  },
  refuses_old_timestamp: {
    ...refused,
    rounds: (make) => [[stale(make("payment.succeeded"))]],
    guide: {
      anchor: "refuse-what-is-old",
      text: "Refuse a delivery whose timestamp differs from your clock by more than 300 seconds, even if its signature is right: someone may have recorded it to send it again. Each of our attempts carries its own timestamp.",
    },
  },
  accepts_unknown_type: {
    ...accepted,
    rounds: (make, now) => [[unheardOf(make("payment.created"), now)]],
    guide: {
      anchor: "ignore-what-you-do-not-know",
      text: "Answer 2xx to an event type that you do not know, and do nothing else. The list of types will grow, and so will the fields of the objects.",
    },
  },
  accepts_duplicate: {
    ...accepted,
    rounds(make) {
      const delivery = make("refund.succeeded");
      return [[delivery], [delivery]];
    },
    guide: {
      anchor: "expect-the-same-event-twice",
      text: "Store event ids under a unique key, in the same transaction as the changes that the event causes. If an id is stored already, answer 2xx and do nothing: the same event may arrive more than once, even at the same time.",
    },
  },
  accepts_duplicate_at_once: {
    ...accepted,
    rounds(make) {
      const delivery = make("refund.failed");
      return [[delivery, delivery], [delivery]];
    },
    guide: {
      anchor: "expect-the-same-event-twice",
      text: "Insert the id, and let the unique key reject the second copy. Do not look it up first: if two copies arrive at the same time, neither finds the other. Answer the rejected copy with 2xx as well.",
    },
  },
  accepts_any_order: {
    ...accepted,
    rounds(make) {
      const newer = make("dispute.resolved");
      const { uuid, payment_reference } = (JSON.parse(newer.body) as { data: Record<string, unknown> }).data;
      return [[newer], [make("dispute.opened", { secondsAgo: 30, about: { uuid, payment_reference } })]];
    },
    guide: {
      anchor: "expect-any-order",
      text: "Events may overtake each other. Compare the event's `created_at` with the one you stored for the object, and ignore older events, with 2xx: the newer event already has the later state. `pending` and `processing` never replace a final state, whatever `created_at` says: it comes from the clock of one of our processes. When it matters, read the object with `GET /v1/payments/{reference}`.",
    },
  },
  accepts_late: {
    ...accepted,
    rounds: (make) => [[make("settlement.created", { secondsAgo: LATE_SECONDS })]],
    guide: {
      anchor: "refuse-what-is-old",
      text: "Check the timestamp header, never `created_at`: a delivery may be held up and first arrive hours after its event. We sign it when we send it.",
    },
  },
  accepts_retry: {
    ...accepted,
    // Attempt 2 without attempt 1, as if the first attempt was lost on its way.
    rounds: (make) => [[{ ...make("payment.failed", { secondsAgo: 30 }), attempt: 2 }]],
    guide: {
      anchor: "take-an-event-at-any-attempt",
      text: "Accept an event at whichever attempt it reaches you: earlier attempts may have been lost in transit. The attempt number tells you how often we tried. Do not decide anything by it.",
    },
  },
  accepts_slow_body: {
    ...accepted,
    rounds: (make) => [[{ ...make("payment.canceled"), slowly: true }]],
    guide: {
      anchor: "read-the-body-to-its-end",
      text: "Read the body to its end, however many pieces it arrives in, and only then verify it. The bytes of one delivery may take some seconds to arrive: do not close the connection before 10.",
    },
  },
  answers_in_time: {
    rounds: (make) => [[make("payment.succeeded")]],
    isRight: ({ status, durationMs }, deadlineMs) => status !== undefined && durationMs <= deadlineMs,
    expected: "an answer within 10 seconds",
    guide: {
      anchor: "answer-first-work-later",
      text: "Store the event, answer, and do the work afterwards. A receiver that fulfils the order, sends mail or calls another service before it answers will one day take longer than 10 seconds, and the same event comes again.",
    },
  },
  tolerates_byte_order: {
    ...accepted,
    rounds: (make) => [[reordered(make("payment.expired"))]],
    guide: {
      anchor: "verify-before-anything-else",
      text: "Verify the bytes as you received them, before parsing. If you parse the JSON and serialize it again, field order, spaces or escapes may change, and then no signature matches.",
    },
  },
} satisfies Record<string, Check>;

export type CheckName = keyof typeof checks;

export const checkNames = Object.keys(checks) as [CheckName, ...CheckName[]];

/** Makes a delivery whose amount was changed after signing. */
function altered(delivery: OutgoingDelivery): OutgoingDelivery & { signedBody: string } {
  const event = JSON.parse(delivery.body) as { data: { amount_minor: number } };
  event.data.amount_minor += 1;
  return { ...delivery, body: JSON.stringify(event), signedBody: delivery.body };
}
