// The endpoint that erases a payer's personal data.
import { reply } from "../ground/reply.ts";
import type { Directory } from "../merchants/directory.ts";
import { erasedView, payerErasure } from "../payments/payer-erasure.schema.ts";
import { type ErasureParts, erasePayer } from "../payments/payer-erasure.ts";
import { OF_BOOK, findBook } from "./books.ts";
import { type OperatorEndpoint, operatorEndpoint } from "./endpoint.ts";
import { bookParams } from "./params.ts";

export function payerEndpoint(parts: ErasureParts & { directory: Directory }): OperatorEndpoint {
  return operatorEndpoint({
    ...payerErasure,
    path: `${OF_BOOK}/payers/erase`,
    params: bookParams,
    description: `${payerErasure.description} The audit says that it was done, not to whom.`,
    role: "admin",
    namesPayer: true,
    async handle({ params, body }) {
      return reply(200, erasedView(await erasePayer(parts, await findBook(parts.directory, params), body.payer)));
    },
  });
}
