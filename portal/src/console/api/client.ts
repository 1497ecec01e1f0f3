// The client of the operators' API, typed by its contract. Who is signed in, proofs and errors are those of every page.
import { Api, type DraftParameters, type DraftRequest, type Intent } from "../../api/client.ts";
import type { AnswerOf, Argument, OperationOf, ParametersOf, PathOf, RequestOf, WriteMethod } from "../../api/types.ts";
import type { components, paths } from "./contract.ts";

export type Schema<Name extends keyof components["schemas"]> = components["schemas"][Name];

const api = new Api();

/** A question for `useQuery`: `read("/v1/merchants", { query: { name } })`. */
export function read<Path extends PathOf<"GET", paths>>(
  path: Path,
  ...[parameters]: Argument<ParametersOf<OperationOf<Path, "GET", paths>>>
) {
  return api.readDraft<AnswerOf<OperationOf<Path, "GET", paths>>>(path, parameters as DraftParameters | undefined);
}

/** A change. Give the intent where the endpoint takes an Idempotency-Key; `useAction` makes it. */
export function write<Method extends WriteMethod, Path extends PathOf<Method, paths>>(
  method: Method,
  path: Path,
  ...[request, intent]: [...Argument<RequestOf<OperationOf<Path, Method, paths>>>, intent?: Intent]
): Promise<AnswerOf<OperationOf<Path, Method, paths>>> {
  return api.writeDraft(method, path, request as DraftRequest | undefined, intent as Intent | undefined);
}

/** Fetches a file, to be saved by `save` of ui/download.ts. With a body it is asked for by POST. */
export const download = (path: string, body?: unknown): Promise<File> => api.download(path, body);
