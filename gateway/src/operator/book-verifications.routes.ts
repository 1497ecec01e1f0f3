// Endpoints that replay a book: in the background, with progress and a stop, or while the caller waits.
import { Fault } from "../ground/fault.ts";
import { isId } from "../ground/ids.ts";
import { type Reply, reply } from "../ground/reply.ts";
import { onePage } from "../http/lists.ts";
import type { Book } from "../merchants/books.ts";
import type { Directory } from "../merchants/directory.ts";
import type { BookReplays } from "./book-replays.ts";
import {
  verificationListSchema,
  verificationParams,
  verificationSchema,
  verificationView,
} from "./book-verifications.schema.ts";
import { VERIFICATIONS_KEPT, type Verification } from "./book-verifications.sql.ts";
import { OF_BOOK, findBook } from "./books.ts";
import { type OperatorEndpoint, operatorEndpoint } from "./endpoint.ts";
import { bookReportSchema } from "./merchants.schema.ts";
import { bookParams } from "./params.ts";

const path = `${OF_BOOK}/verifications`;
const ofBook = { params: bookParams, tag: "Books" } as const;
const ofReplay = { params: verificationParams, tag: "Books" } as const;

export function bookVerificationEndpoints(directory: Directory, replays: BookReplays): OperatorEndpoint[] {
  const answer = async (
    params: Readonly<Record<string, string>>,
    find: (book: Book, id: string) => Promise<Verification | undefined>,
  ): Promise<Reply> => {
    const { book } = await findBook(directory, params);
    const { verification_id: id = "" } = params;
    const found = isId("verification", id) ? await find(book, id) : undefined;
    if (!found) throw new Fault("OBJECT_NOT_FOUND", { message: "No such replay of this book." });
    return reply(200, verificationView(found));
  };
  return [
    operatorEndpoint({
      ...ofBook,
      method: "GET",
      operationId: "verifyBook",
      path: `${OF_BOOK}/verify`,
      summary: "Replay a book from its first journal; takes as long as the book is",
      description: "For books of which a replay takes seconds. Of a long one start a replay, and watch how far it is.",
      role: "viewer",
      success: { description: "Whether the book is clean.", schema: bookReportSchema },
      async handle({ params }) {
        const { book } = await findBook(directory, params);
        const { journals, wrong } = await replays.verify(book);
        return reply(200, { clean: wrong === undefined, journals: Number(journals), wrong });
      },
    }),
    operatorEndpoint({
      ...ofBook,
      method: "POST",
      operationId: "startBookVerification",
      path,
      summary: "Start a replay of a book from its first journal, which goes on by itself",
      description:
        "Of a book that is being replayed already, it is that replay. A process replays one book at a time: while it does, another book is answered 503.",
      role: "support",
      success: { status: 201, description: "The replay, as it runs.", schema: verificationSchema },
      async handle({ params, operator }) {
        const { book } = await findBook(directory, params);
        return reply(201, verificationView(await replays.start(book, operator.name)));
      },
    }),
    operatorEndpoint({
      ...ofBook,
      method: "GET",
      operationId: "listBookVerifications",
      path,
      summary: "List the replays of a book, newest first",
      role: "viewer",
      success: {
        description: `The newest ${VERIFICATIONS_KEPT} are kept, and all of them are here.`,
        schema: verificationListSchema,
      },
      async handle({ params }) {
        const { book } = await findBook(directory, params);
        return onePage(await replays.list(book), verificationView);
      },
    }),
    operatorEndpoint({
      ...ofReplay,
      method: "GET",
      operationId: "getBookVerification",
      path: `${path}/{verification_id}`,
      summary: "Read how far a replay is, or what it found",
      role: "viewer",
      success: { description: "The replay.", schema: verificationSchema },
      handle: ({ params }) => answer(params, (book, id) => replays.read(book, id)),
    }),
    operatorEndpoint({
      ...ofReplay,
      method: "POST",
      operationId: "stopBookVerification",
      path: `${path}/{verification_id}/stop`,
      summary: "Stop a replay; one that has ended stays as it is",
      role: "support",
      success: { description: "The replay. It ends within a second or so.", schema: verificationSchema },
      handle: ({ params, operator }) => answer(params, (book, id) => replays.end(book, id, operator.name)),
    }),
  ];
}
