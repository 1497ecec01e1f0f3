// The kinds of what waits for a person: what each is called, and what somebody does about it.

interface Kind {
  name: string;
  todo: string;
}

const kinds = {
  review: { name: "Review", todo: "Judge a payment, before it is refused by itself." },
  approval: { name: "Second operator", todo: "Agree to what somebody else asked for, or refuse it." },
  dispute_deadline: { name: "Dispute unanswered", todo: "Tell the merchant: it is lost when nobody answers in time." },
  dispute_decision: { name: "Dispute to decide", todo: "Read what the merchant says, and record how it ended." },
  receipt: { name: "Late money", todo: "Find out whose it is: assign it, or return it." },
  exception: { name: "Disagreement", todo: "Ask the acquirer, and write down what came of it." },
  payout_overdue: { name: "Payout overdue", todo: "Look at the bank, and record what it did." },
  payout_returned: {
    name: "Payout returned",
    todo: "Its money waits for the next batch. Ask why the bank gave it back.",
  },
  refund_pending: { name: "Refund without answer", todo: "Its acquirer has not answered for a day." },
  outcome_unknown: {
    name: "Outcome unknown",
    todo: "Ask the acquirer about the operation key: it has not said for an hour.",
  },
  operation_overdue: { name: "Call overdue", todo: "No worker has made a call that is due." },
  endpoint_failing: { name: "Receiver failing", todo: "Tell the merchant, then send its events again." },
  book_quarantined: { name: "Book in quarantine", todo: "It moves nothing until somebody knows why." },
} as const satisfies Record<string, Kind>;

/** In the order of the API: what costs money first when it is left. */
export const kindNames = Object.keys(kinds) as (keyof typeof kinds)[];

export function kindOf(kind: string): Kind {
  return (kinds as Record<string, Kind>)[kind] ?? { name: kind.replaceAll("_", " "), todo: "" };
}
