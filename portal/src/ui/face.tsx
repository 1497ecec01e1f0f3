// Error displays: what went wrong, what the person can do, and the request id for support.
import type { UseQueryResult } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { pagesRoot } from "../face.ts";
import { useParts, usePathname } from "../address.ts";
import type { ApiError, Asked } from "../api/error.ts";
import { paths } from "../paths.ts";
import { Button } from "./button.tsx";
import { Identity } from "./copy.tsx";
import { To } from "./link.tsx";

interface Face {
  title: string;
  /** Instead of the service's own text, where that one speaks to a program. */
  message?: string;
  advice: ReactNode;
  /** Whether asking again may help. */
  again: boolean;
}

function faceOf(error: ApiError): Face {
  const { status, code, retryAfterSeconds, asked } = error;
  if (code === "SECOND_FACTOR_REQUIRED") {
    const advice = (
      <>
        An owner needs a second factor. <To to={paths.accountAuthenticator()}>Set up an authenticator app</To> or{" "}
        <To to={paths.accountPasskeys()}>a passkey</To>, then come back.
      </>
    );
    return { title: "A second factor is needed", advice, again: true };
  }
  if (status === 0) {
    const advice = `The service is not answering. It may be restarting, or you may be offline. Nothing you typed is lost.${ifSent[asked]}`;
    return { title: "No connection", advice, again: true };
  }
  // What was wrong with a password or a code is in the answer. Whether the session has ended, too, is asked for, and told by the page.
  if (status === 401 && asked === "proof") return { title: "Not accepted", advice: "", again: false };
  if (status === 401) {
    const advice = (
      <>
        Your session has ended.{" "}
        <a className="link" href={`${pagesRoot}/sign-in`} target="_blank" rel="noreferrer">
          Sign in in a new tab
        </a>
        , then try again here.
      </>
    );
    return { title: "You are signed out", advice, again: true };
  }
  if (code === "ENVIRONMENT_MISMATCH")
    return {
      title: "Not in this environment",
      message: "It belongs to the other environment.",
      advice: <OtherEnvironment />,
      again: false,
    };
  // The answer says which role it is and who can change it, or that the merchant is suspended, which is no matter of roles.
  if (status === 403) return { title: "Not allowed", advice: "", again: false };
  if (status === 404)
    return {
      title: "Not found",
      advice: "Nothing was found here. It may belong to another merchant or to the other environment.",
      again: false,
    };
  const conflict = conflicts[code];
  if (conflict !== undefined) return { title: "That did not work", advice: conflict, again: true };
  if (status === 409)
    return {
      title: "It has changed in the meantime",
      advice: "Somebody or something else changed it first. Check how it stands now before you go on.",
      again: true,
    };
  if (status === 429)
    return {
      title: "Too many requests",
      advice: `Wait ${retryAfterSeconds ?? 60} seconds, then try again.`,
      again: true,
    };
  if (code === "NO_ROUTE_AVAILABLE")
    return { title: "No acquirer can take it", advice: "Try again later, or choose another method.", again: true };
  if (status === 503)
    return {
      title: "Overloaded or restarting",
      advice: `The service cannot answer right now.${ifSent[asked] || " Try again in a moment."}`,
      again: true,
    };
  if (status >= 500)
    return {
      title: "Service error",
      advice: `This is not your fault.${ifSent[asked] || " Try again."} If it keeps happening, give support the request id.`,
      again: true,
    };
  if (status === -1)
    return {
      title: "Something went wrong on this page",
      advice: "Reload the page. What you did before is safe.",
      again: true,
    };
  return { title: "That did not work", advice: "", again: false };
}

/** The same address in the other environment. */
function OtherEnvironment() {
  const { environment = "" } = useParts();
  const path = usePathname();
  const other = environment === "sandbox" ? "production" : "sandbox";
  return <To to={path.replace(`/${environment}/`, `/${other}/`)}>Open it in {other}</To>;
}

/** What to do about a refusal with 409 that nobody else's change is the reason for. */
const conflicts: Readonly<Record<string, string>> = {
  REFERENCE_ID_DUPLICATE: "Enter another reference, or look for the payment that has it.",
  IDEMPOTENCY_IN_PROGRESS: "Wait a moment, then send it again: it is not done twice.",
  DISPUTE_LOCKED: "Wait until the dispute is over, or until more has come in.",
};

/** What to do about a request whose outcome is unknown. */
const ifSent: Record<Asked, string> = {
  question: "",
  keyed: " It may have been done all the same. Sent again, it is not done twice.",
  change: " It may have been done all the same: look before you send it again.",
  proof: "",
};

interface Props {
  error: ApiError;
  /** Offered when asking again may help. */
  retry?: (() => unknown) | undefined;
}

/**
 * The error of a query, also while a query without an answer is asked again. It has none then, and live pages ask by themselves: what somebody reads,
 * and the button that has the focus, would be gone for a moment each time.
 */
export function useErrorShown({ error, data, errorUpdatedAt }: UseQueryResult<unknown, ApiError>): ApiError | null {
  const [last, setLast] = useState({ error, errorUpdatedAt });
  if (error && error !== last.error) setLast({ error, errorUpdatedAt });
  // Of another query, which has the same place on the page, nothing is told.
  return error ?? (data === undefined && errorUpdatedAt === last.errorUpdatedAt ? last.error : null);
}

/** An error in place of a page or of a part of it. */
export function ErrorFace({ error, retry }: Props) {
  const { title, message = error.message, advice, again } = faceOf(error);
  return (
    <section role="alert" className="max-w-xl rounded-md border border-line bg-panel p-5">
      <h2 className="text-lg font-semibold">{title}</h2>
      <p className="mt-1">{message}</p>
      {advice !== "" && <p className="mt-1 text-muted">{advice}</p>}
      <ErrorFacts error={error} />
      {again && retry && (
        <div className="mt-4">
          <Button onClick={retry}>Try again</Button>
        </div>
      )}
    </section>
  );
}

/** A smaller error with the same texts, above the buttons of a form or in a dialog. */
export function ErrorNote({ error }: { error: ApiError }) {
  const { title, message = error.message, advice } = faceOf(error);
  return (
    <div role="alert" className="rounded border border-bad/50 px-3 py-2">
      <p className="font-medium text-bad">{error.status > 0 ? message : title}</p>
      {advice !== "" && <p className="mt-0.5 text-muted">{advice}</p>}
      <ErrorFacts error={error} />
    </div>
  );
}

function ErrorFacts({ error: { code, requestId, status } }: { error: ApiError }) {
  if (status <= 0) return null;
  return (
    <p className="mt-2 flex flex-wrap items-center gap-x-3 text-xs text-muted">
      <code className="font-mono">{code}</code>
      {requestId !== undefined && <Identity id={requestId} what="the request id" />}
    </p>
  );
}
