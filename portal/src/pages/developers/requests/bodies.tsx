// The bodies of a request and its answer, as far as they are kept.
import type { Schema } from "../../../api/types.ts";
import { Code } from "../../../ui/code.tsx";
import { Section } from "../../../ui/page.tsx";

type Body = Schema<"LoggedBody">;

const omissions: Record<NonNullable<Body["omitted"]>, string> = {
  too_large: "It is too large to be kept.",
  not_json: "It is not JSON in UTF-8, so nothing of it is kept.",
  not_an_object: "It is JSON but not an object, so nothing of it is kept.",
  duplicate_key: "It has the same key twice in one object, so nothing of it is kept.",
  unproven: "Nothing of it is kept: the sender did not prove who they are.",
  too_deep: "It is nested too deep, so nothing of it is kept.",
  needs_scope: "It is not shown: your role cannot read such objects elsewhere either.",
};

/** Both beside each other where there is room. */
export function Bodies({ request, response }: { request: Body; response: Body }) {
  return (
    <div className="grid gap-6 lg:grid-cols-2">
      <BodySection title="Request" body={request} />
      <BodySection title="Answer" body={response} />
    </div>
  );
}

export function BodySection({ title, body }: { title: string; body: Body }) {
  return (
    <div className="min-w-0">
      <Section title={title} actions={<span className="text-xs text-muted">{body.bytes} bytes</span>}>
        {body.text === null ? (
          <p className="rounded-md border border-dashed border-line px-3 py-2 text-muted">
            {body.omitted === null ? "No body." : omissions[body.omitted]}
          </p>
        ) : (
          <Code text={indented(body.text)} what={`${title}, body`} />
        )}
      </Section>
    </div>
  );
}

/** Indented where that changes no value: JavaScript would write some numbers in another way. */
function indented(json: string): string {
  try {
    const value: unknown = JSON.parse(json);
    return JSON.stringify(value) === json ? JSON.stringify(value, null, 2) : json;
  } catch {
    return json;
  }
}
