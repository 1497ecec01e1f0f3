// The kinds of what waits for a person: what each is called, and what somebody does about it.

interface Kind {
  name: string;
  todo: string;
}

const kinds = {
  review: {
    name: "Review",
    todo: "Approve or refuse the payment, before it is refused automatically or its acquirer decides.",
  },
  approval: { name: "Second operator", todo: "Approve or refuse what somebody else asked for." },
  approval_unknown: {
    name: "Approved, outcome unknown",
    todo: "Look at the object: was the change made? Ask for it again only if it was not.",
  },
  dispute_deadline: {
    name: "Dispute unanswered",
    todo: "Tell the merchant: the dispute is lost if nobody answers in time.",
  },
  dispute_decision: { name: "Dispute to decide", todo: "Read what the merchant says, and record how it ended." },
  receipt: { name: "Late money", todo: "Find out whose it is: assign it, or return it." },
  exception: { name: "Disagreement", todo: "Ask the acquirer, and write down the result." },
  payout_overdue: { name: "Payout overdue", todo: "Check with the bank, and record what it did." },
  payout_returned: {
    name: "Payout returned",
    todo: "Its money waits for the next batch. Ask the bank why it was returned.",
  },
  refund_pending: {
    name: "Refund without answer",
    todo: "Ask its acquirer, which has not answered for a day, and record what it says.",
  },
  outcome_unknown: {
    name: "Outcome unknown",
    todo: "Ask the acquirer about the operation key: it has not answered for an hour.",
  },
  operation_overdue: {
    name: "Call overdue",
    todo: "Check that a worker is running: nobody has made a call that is due.",
  },
  endpoint_failing: { name: "Receiver failing", todo: "Tell the merchant, then send its events again." },
  book_quarantined: {
    name: "Book in quarantine",
    todo: "Verify its ledger and end the cause: it moves no money until its process is restarted.",
  },
} as const satisfies Record<string, Kind>;

/** In the order of the API: what costs money first when it is left. */
export const kindNames = Object.keys(kinds) as (keyof typeof kinds)[];

export function kindOf(kind: string): Kind {
  return (kinds as Record<string, Kind>)[kind] ?? { name: kind.replaceAll("_", " "), todo: "" };
}
