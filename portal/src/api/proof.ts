// A proof that is asked for again before money moves or a secret is shown: the call waits, the dialog answers, the call is repeated.
import { createStore } from "../store.ts";
import type { ApiError } from "./error.ts";

interface Waiting {
  proven(): void;
  refused(): void;
}

const waiting = createStore<readonly Waiting[]>([]);

/** Resolves once the person has proven who they are; throws the error of the call when they do not want to. */
export function askForProof(error: ApiError): Promise<void> {
  return new Promise((resolve, reject) => {
    waiting.set([...waiting.get(), { proven: () => resolve(), refused: () => reject(error) }]);
  });
}

/** For the dialog: whether somebody waits. */
export function useProofAsked(): boolean {
  return waiting.use().length > 0;
}

/** For the dialog: ends the waiting of all calls. */
export function answerProof(proven: boolean): void {
  const all = waiting.get();
  waiting.set([]);
  for (const one of all) {
    if (proven) one.proven();
    else one.refused();
  }
}
