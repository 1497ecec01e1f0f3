// A repeated proof of identity before money moves or a secret is shown: the call waits, the dialog asks, and the call is repeated.
import { createStore } from "../store.ts";
import type { ApiError } from "./error.ts";

interface Waiting {
  proven(): void;
  refused(): void;
}

const waiting = createStore<readonly Waiting[]>([]);

/** Resolves once the person has proven their identity; rejects with the call's error when they decline. */
export function askForProof(error: ApiError): Promise<void> {
  return new Promise((resolve, reject) => {
    waiting.set([...waiting.get(), { proven: () => resolve(), refused: () => reject(error) }]);
  });
}

/** For the dialog: whether a call waits for a proof. */
export function useProofAsked(): boolean {
  return waiting.use().length > 0;
}

/** For the dialog: ends the wait of all calls. */
export function answerProof(proven: boolean): void {
  const all = waiting.get();
  waiting.set([]);
  for (const one of all) {
    if (proven) one.proven();
    else one.refused();
  }
}
