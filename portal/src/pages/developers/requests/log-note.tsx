// What is in the log and what is not, in words: how long requests are kept, and how many had no room.
import { useQuery } from "@tanstack/react-query";
import { useApi, usePlace } from "../../../api/place.ts";

export function LogNote() {
  const { environment } = usePlace();
  const { data } = useQuery(useApi().read("/v1/request-log"));
  // The sentences around it are in English.
  const count = (value: number): string => value.toLocaleString("en");
  const what =
    environment === "sandbox"
      ? "Requests from your systems to the sandbox"
      : "Requests from your systems that were refused";
  // It is there from the start, so that the page below does not move by a line.
  const never =
    "Secrets, signatures, card numbers, e-mail addresses, telephone numbers with a + and fields for names or addresses are never kept; other texts, such as descriptions, are.";
  if (!data) return `${what}, newest first. ${never}`;
  if (!data.enabled) return `${what}. The log is switched off.`;
  const { kept_days: days, kept_requests: most, not_logged: dropped, not_logged_unproven: unproven } = data;
  return (
    <>
      {what}, newest first. Kept for {days} days, at most {count(most)} of them. {never}
      {dropped > 0 && (
        <span className="mt-1 block text-warn">
          {count(dropped)} {dropped === 1 ? "request" : "requests"} of the last 24 hours {dropped === 1 ? "is" : "are"}{" "}
          not in the log, because they came too fast. They were answered like any other.
        </span>
      )}
      {unproven > 0 && (
        <span className="mt-1 block">
          Of requests with a wrong signature, 30 a minute are logged; {count(unproven)} more were refused in the last 24
          hours.
        </span>
      )}
    </>
  );
}
