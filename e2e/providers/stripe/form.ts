// Reads forms as Stripe's clients send them: `a[b][0]=c` as nested objects, and multipart uploads.

export interface Form {
  [name: string]: string | Form;
}

/** Reads a form or a query. Throws for names with unbalanced brackets and for more than 200 fields. */
export function readForm(text: string): Form {
  const form: Form = {};
  let count = 0;
  for (const [name, value] of new URLSearchParams(text)) {
    if (++count > 200) throw new Error("too many fields");
    const path = /^(\w+)((?:\[\w*\])*)$/.exec(name);
    if (!path) throw new Error(`${name} is no name of a field`);
    const steps = [path[1] ?? "", ...[...(path[2] ?? "").matchAll(/\[(\w*)\]/g)].map(([, step]) => step ?? "")];
    set(form, steps, value);
  }
  return form;
}

function set(form: Form, [step = "", ...rest]: string[], value: string): void {
  const name = step === "" ? String(Object.keys(form).length) : step;
  if (rest.length === 0) {
    form[name] = value;
    return;
  }
  const inner = form[name];
  const next = typeof inner === "object" ? inner : {};
  form[name] = next;
  set(next, rest, value);
}

/** The text at a path in a form; undefined when there is none. */
export function at(form: Form, ...path: string[]): string | undefined {
  let here: string | Form | undefined = form;
  for (const step of path) here = typeof here === "object" && Object.hasOwn(here, step) ? here[step] : undefined;
  return typeof here === "string" ? here : undefined;
}

/** The texts of the inner form with a name; empty when there is none. */
export function within(form: Form, name: string): Record<string, string> {
  const inner = Object.hasOwn(form, name) ? form[name] : undefined;
  if (typeof inner !== "object") return {};
  return Object.fromEntries(
    Object.entries(inner).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
}

/** Reads a multipart upload: a file and its purpose. Throws when either is missing. */
export async function readUpload(contentType: string, body: Buffer): Promise<{ purpose: string; file: File }> {
  const parts = await new Response(new Uint8Array(body), { headers: { "content-type": contentType } }).formData();
  const purpose = parts.get("purpose");
  const file = parts.get("file");
  if (typeof purpose !== "string" || file === null || typeof file === "string") throw new Error("no file");
  return { purpose, file };
}

/** The API key of a request, from a Basic or a Bearer header: Stripe accepts both. */
export function bearerOf(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  const basic = /^Basic (\S+)$/.exec(header)?.[1];
  return basic === undefined
    ? /^Bearer (\S+)$/.exec(header)?.[1]
    : Buffer.from(basic, "base64").toString().split(":", 1)[0];
}
