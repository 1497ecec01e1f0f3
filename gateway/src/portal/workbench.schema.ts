// The shape of the list of items that fall due by the sandbox's clock.
import { z } from "zod";
import { exampleIds, exampleTimes } from "../http/examples.ts";
import { listSchema, positive, textOrNull, timestamp } from "../http/shapes.ts";

export const comingDueSchema = listSchema(
  z
    .strictObject({
      kind: z
        .enum(["payment_expires", "evidence_due", "settlement_run", "settlement_paid", "delivery_tried"])
        .meta({ id: "DueKind", description: "What happens." }),
      at: timestamp.meta({ description: "By the sandbox's clock." }),
      in_seconds: positive(1800, "So far the clock has to be moved."),
      id: textOrNull(
        exampleIds.payment,
        "Of the payment, dispute, settlement or event; null for a run of settlements.",
      ),
    })
    .meta({
      id: "ComingDue",
      description: "Something that happens when the sandbox's clock reaches its time.",
      examples: [{ kind: "payment_expires", at: exampleTimes.expires, in_seconds: 1800, id: exampleIds.payment }],
    }),
  "ComingDueList",
);
