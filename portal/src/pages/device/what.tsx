// What asks to be signed in, for who has to judge whether it is their own: the code, the name it gives itself, from where and when.
import type { ReactNode } from "react";
import type { Schema } from "../../api/types.ts";
import { TimeFromNow } from "../../ui/time.tsx";

export function What({ device }: { device: Schema<"SeenDevice"> }) {
  const { user_code: code, name, address, same_address: isSame, user_agent: program, asked_at: at } = device;
  return (
    <div className="space-y-4">
      <div>
        <p className="text-muted" id="device-code">
          Check that your terminal shows the same code:
        </p>
        <p aria-labelledby="device-code" className="mt-1 font-mono text-2xl font-semibold tracking-[0.12em]">
          {code}
        </p>
      </div>
      <dl className="divide-y divide-line rounded-md border border-line bg-panel px-4 py-1">
        <Line name="It calls itself">{name}</Line>
        <Line name="Asked from">
          <code className="font-mono text-xs">{address}</code>
          <span className={isSame ? "ml-2 text-muted" : "ml-2 font-medium text-warn"}>
            {isSame ? "where you are" : "not where you are"}
          </span>
        </Line>
        <Line name="Asked">
          <TimeFromNow at={at} />
        </Line>
        <Line name="Program">{program === "" ? <span className="text-muted">says nothing</span> : program}</Line>
      </dl>
      <p className="rounded border border-warn/50 px-3 py-2">
        <strong className="font-semibold">Confirm only if you started this yourself, just now.</strong> If somebody sent
        you this code or this link, refuse: they would get the key.
      </p>
    </div>
  );
}

function Line({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="flex min-h-8 flex-wrap items-center justify-between gap-x-4 py-1">
      <dt className="text-muted">{name}</dt>
      <dd className="min-w-0 text-right wrap-anywhere">{children}</dd>
    </div>
  );
}
