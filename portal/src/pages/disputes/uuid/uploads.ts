// Files on their way: two at a time, each with its progress, and with what was wrong with it.
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { refresh } from "../../../api/action.ts";
import { asApiError } from "../../../api/error.ts";
import { useApi } from "../../../api/place.ts";
import type { Schema } from "../../../api/types.ts";
import { say } from "../../../ui/toast.tsx";

const AT_ONCE = 2;
const LOOK_FIRST = "The file may have arrived all the same: look among those that are kept before you add it again.";

export interface Upload {
  id: number;
  file: File;
  state: "waiting" | "sending" | "refused";
  /** From 0 to 1. */
  sent: number;
  /** Why it was refused, in a sentence. */
  why?: string;
}

export interface Uploads {
  list: readonly Upload[];
  isBusy: boolean;
  add(files: readonly File[]): void;
  /** Breaks off one that is on its way, or takes one that was refused off the list. */
  drop(id: number): void;
}

let next = 1;

export function useUploads({ uuid, limits }: Schema<"GatheredEvidence">): Uploads {
  const api = useApi();
  const queries = useQueryClient();
  const [list, setList] = useState<readonly Upload[]>([]);
  const running = useRef(new Map<number, AbortController>());
  const change = (id: number, to: Partial<Upload>): void =>
    setList((before) => before.map((one) => (one.id === id ? { ...one, ...to } : one)));
  const drop = (id: number): void => {
    running.current.get(id)?.abort();
    setList((before) => before.filter((one) => one.id !== id));
  };

  const send = async ({ id, file }: Upload): Promise<void> => {
    const ending = new AbortController();
    running.current.set(id, ending);
    try {
      await api.upload(`/v1/disputes/${encodeURIComponent(uuid)}/evidence/files`, file, {
        headers: { "x-file-name": encodeURIComponent(file.name) },
        onProgress: (sent) => change(id, { sent }),
        signal: ending.signal,
      });
      await refresh(queries, ["/v1/disputes/{uuid}/evidence"]);
      setList((before) => before.filter((one) => one.id !== id));
      say(`${file.name} is kept.`, "quiet");
    } catch (thrown) {
      if (ending.signal.aborted) return;
      const { message, isOutcomeUnknown } = asApiError(thrown);
      // It may have arrived: then the list of what is kept shows it, for who decides whether to send it again.
      if (isOutcomeUnknown) await refresh(queries, ["/v1/disputes/{uuid}/evidence"]);
      change(id, { state: "refused", why: isOutcomeUnknown ? `${message} ${LOOK_FIRST}` : message });
    } finally {
      running.current.delete(id);
    }
  };

  // Whoever waits goes when a place is free.
  const sending = list.filter(({ state }) => state === "sending").length;
  const first = sending < AT_ONCE ? list.find(({ state }) => state === "waiting") : undefined;
  useEffect(() => {
    if (!first || running.current.has(first.id)) return;
    change(first.id, { state: "sending" });
    void send(first);
  });
  useEffect(() => {
    const all = running.current;
    return () => {
      for (const one of all.values()) one.abort();
    };
  }, []);

  return {
    list,
    isBusy: list.some(({ state }) => state !== "refused"),
    add: (files) =>
      setList((before) => [
        ...before,
        ...files.map((file): Upload => {
          const why = objectionTo(file, limits.file_bytes);
          return { id: next++, file, state: why === undefined ? "waiting" : "refused", sent: 0, ...(why && { why }) };
        }),
      ]),
    drop,
  };
}

/** What need not be sent to be refused. The service judges the rest by content. */
function objectionTo({ size }: File, max: number): string | undefined {
  if (size === 0) return "The file is empty.";
  if (size <= max) return undefined;
  return `The file has ${size.toLocaleString("en")} bytes. The limit is ${max.toLocaleString("en")} (10 MiB).`;
}
