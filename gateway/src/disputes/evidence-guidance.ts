// The evidence that a merchant is asked for, by the payer's reason for the dispute.
import type { DisputeReason } from "../acquirers/acquirer.ts";

interface EvidenceGuidance {
  /** The payer's claim, in a sentence. */
  claim: string;
  /** Evidence that convinces the person who decides the dispute, the best first. */
  helpful: readonly string[];
  /** Whether to ask for the carrier, the tracking number and the day of delivery. */
  asksDelivery: boolean;
}

export const guidanceFor: Readonly<Record<DisputeReason, EvidenceGuidance>> = {
  product_not_received: {
    claim: "The payer says that what they paid for never arrived.",
    helpful: [
      "Proof of delivery: a signature, or a photo at the door",
      "The carrier and the tracking number",
      "Messages in which the payer says that it came",
    ],
    asksDelivery: true,
  },
  product_unacceptable: {
    claim: "The payer says that it was damaged, or not what was described.",
    helpful: [
      "The description and the pictures that the payer saw",
      "Photos from before it was sent",
      "What you offered when the payer complained",
    ],
    asksDelivery: true,
  },
  fraudulent: {
    claim: "The payer says that they did not make this payment.",
    helpful: [
      "What ties the payer to the order: an account, an address, a phone number",
      "Earlier orders of the same payer that were not contested",
      "Proof of delivery to the payer's address",
    ],
    asksDelivery: true,
  },
  duplicate: {
    claim: "The payer says that they paid twice for the same thing.",
    helpful: ["Both orders beside each other, and why they differ", "A refund that you made of one of them"],
    asksDelivery: false,
  },
  credit_not_processed: {
    claim: "The payer says that a refund which you promised did not come.",
    helpful: ["The refund, if you made it", "Your terms for returns, as the payer accepted them"],
    asksDelivery: false,
  },
  general: {
    claim: "The payer contests the payment without saying why.",
    helpful: ["The order and the receipt", "Proof of delivery", "What you and the payer wrote to each other"],
    asksDelivery: true,
  },
};
