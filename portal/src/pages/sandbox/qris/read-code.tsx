// A code, read by the service: its tags, its checksum, its picture, and the payment that it asks for.
import { useMutation } from "@tanstack/react-query";
import { useEffect } from "react";
import { asApiError } from "../../../api/error.ts";
import { useApi } from "../../../api/place.ts";
import type { Schema } from "../../../api/types.ts";
import { Form, Submit, TextField, needed } from "../../../ui/form.tsx";
import { Qr } from "../../../ui/qr.tsx";
import { Skeleton } from "../../../ui/skeleton.tsx";
import { Status } from "../../../ui/status.tsx";
import { PaymentOfCode } from "./payment-of-code.tsx";
import { Tags } from "./tags.tsx";

export function ReadCode({ code, take }: { code: string; take: (code: string) => void }) {
  const api = useApi();
  const reading = useMutation({
    mutationFn: (text: string) => api.write("POST", "/v1/sandbox/qris/decode", { body: { qr_string: text } }),
  });
  const { mutate } = reading;
  useEffect(() => {
    if (code !== "") mutate(code);
  }, [code, mutate]);
  const error = reading.error ? asApiError(reading.error) : undefined;
  return (
    <div className="space-y-4">
      <Form
        values={{ qr_string: code }}
        action={{ pending: reading.isPending, error }}
        onSubmit={({ qr_string: text = "" }) => take(text.trim())}
      >
        <TextField name="qr_string" label="The text of the code" lines={3} mono check={neededText} />
        <Submit>Read it</Submit>
      </Form>
      {code !== "" && reading.isPending && (
        <div aria-busy="true">
          <Skeleton className="h-64 w-full" />
        </div>
      )}
      {reading.data && <Read qr={reading.data} />}
    </div>
  );
}

const neededText = needed("A text");

function Read({ qr }: { qr: Schema<"Qris"> }) {
  const { crc, problems } = qr;
  return (
    <div className="flex flex-wrap items-start gap-6">
      <div className="min-w-0 flex-1 basis-96 space-y-3">
        <p className="flex flex-wrap items-center gap-x-4 gap-y-1">
          <Status
            status={
              problems.length === 0 ? "whole" : `${problems.length} ${problems.length === 1 ? "problem" : "problems"}`
            }
            tone={problems.length === 0 ? "good" : "bad"}
          />
          <Status
            status={crc.matches ? `checksum ${crc.computed} is right` : `checksum should be ${crc.computed}`}
            tone={crc.matches ? "good" : "bad"}
          />
        </p>
        {problems.length > 0 && (
          <ul className="list-disc space-y-0.5 pl-5">
            {problems.map((problem) => (
              <li key={problem}>{problem}</li>
            ))}
          </ul>
        )}
        <Tags objects={qr.objects} />
      </div>
      <div className="w-60 max-w-full shrink-0 space-y-4">
        <Qr text={qr.qr_string} label="The picture of the code" size={240} />
        <PaymentOfCode qr={qr} />
      </div>
    </div>
  );
}
