// Runs an example: sends it through the session of whoever is signed in at the portal, to their sandbox and nowhere else, and shows what came back.
interface Runnable {
  method: string;
  path: string;
  values: Record<string, string>;
  query: Record<string, string>;
  body?: Record<string, unknown>;
}

interface Membership {
  merchant_id: string;
  merchant_name: string;
}

interface Reader {
  merchant: Membership;
  others: Membership[];
  baseUrl: string;
}

/** The only environment that there is for these pages. */
const ENVIRONMENT = "sandbox";
const ANSWER_CHARACTERS_MAX = 100_000;
const DEADLINE_MS = 30_000;
const MERCHANT = "gerbang.docs.merchant";
/** Where the portal keeps the place that somebody was at last: whoever was never there has no session to ask for. */
const PLACE = "gerbang.place";
const NOBODY = "gerbang.docs.nobody";
const NOBODY_MS = 60_000;

/** What is kept on this device; null where nothing is, or storage is forbidden. */
function kept(storage: Storage, name: string): string | null {
  try {
    return storage.getItem(name);
  } catch {
    return null;
  }
}

function keep(storage: Storage, name: string, value: string): void {
  try {
    storage.setItem(name, value);
  } catch {
    // Then it holds for this page alone.
  }
}

let reader: Promise<Reader | undefined> | undefined;

/** Who is signed in; undefined for nobody. */
async function askReader(): Promise<Reader | undefined> {
  const answer = await fetch("/portal/v1/session").catch(() => undefined);
  if (!answer?.ok) return undefined;
  const { memberships, service } = (await answer.json()) as {
    memberships: Membership[];
    service: { base_url: string };
  };
  const last = kept(localStorage, MERCHANT) ?? kept(localStorage, PLACE)?.split("/")[0];
  const chosen = memberships.find(({ merchant_id: id }) => id === last) ?? memberships[0];
  return chosen && { merchant: chosen, others: memberships, baseUrl: service.base_url };
}

/** Puts the reader's own address and client_id into examples. Without `isAsking` nobody is asked for who was never signed in here, or was not a moment ago. */
export async function fill(isAsking: boolean): Promise<void> {
  const nobodySince = Number(kept(sessionStorage, NOBODY) ?? 0);
  if (!isAsking && (kept(localStorage, PLACE) === null || Date.now() - nobodySince < NOBODY_MS)) return;
  reader = askReader();
  const known = await reader;
  if (!known) {
    keep(sessionStorage, NOBODY, String(Date.now()));
    return;
  }
  keep(sessionStorage, NOBODY, "0");
  write("root", known.baseUrl.replace(/\/v1$/, ""));
  const keys = await fetch("/portal/v1/credentials?limit=100", { headers: headersOf(known) }).catch(() => undefined);
  if (!keys?.ok) return; // not every role reads keys
  const { data } = (await keys.json()) as { data: { client_id: string; state: string; created_at: string }[] };
  const [key] = data.filter(({ state }) => state === "live").sort((a, b) => b.created_at.localeCompare(a.created_at));
  if (key) write("client-id", key.client_id);
}

function write(what: string, text: string): void {
  for (const box of document.querySelectorAll(`[data-fill="${what}"]`)) box.textContent = text;
}

const headersOf = ({ merchant }: Reader): Record<string, string> => ({
  "x-merchant-id": merchant.merchant_id,
  "x-environment": ENVIRONMENT,
});

/** Opens what runs an example below it, for the button that has the request, or closes it. */
export async function openRun(button: HTMLElement): Promise<void> {
  const box = button.closest<HTMLElement>(".code");
  const open = box?.querySelector<HTMLElement>(".runner");
  open?.remove();
  if (!box || open?.dataset.request === button.dataset.run) return;
  const runner = element("div", { className: "runner" });
  runner.dataset.request = button.dataset.run ?? "";
  box.append(runner);
  reader ??= askReader();
  const known = (await reader) ?? (await (reader = askReader()));
  const openAgain = (): void => {
    runner.remove();
    void openRun(button);
  };
  if (known) await drawForm(runner, JSON.parse(runner.dataset.request) as Runnable, known, openAgain);
  else drawSignIn(runner, openAgain);
}

function drawSignIn(runner: HTMLElement, openAgain: () => void): void {
  const link = element("a", { href: "/portal/sign-in", textContent: "Sign in at the portal", target: "_blank" });
  const again = element("button", { type: "button", textContent: "I am signed in", className: "send" });
  again.addEventListener("click", () => {
    reader = askReader();
    openAgain();
    void fill(true);
  });
  const text = element("p", {});
  text.append("It runs in your own sandbox. ", link, ", and come back to this page.");
  runner.append(text, again);
  again.focus();
}

/** A form with what can be changed: the merchant, the values in the path, the body. */
async function drawForm(runner: HTMLElement, run: Runnable, known: Reader, openAgain: () => void): Promise<void> {
  const newest = await newestValues(run, known);
  // What a shell would put in is for the reader to say, where there is no newest one.
  const written = Object.entries(run.values).map(([name, value]) => [name, value.startsWith("$") ? "" : value]);
  const values: Record<string, string> = { ...Object.fromEntries(written), ...newest };
  const form = element("form", {});
  const key = `docs-${crypto.randomUUID()}`;
  const where = element("p", { className: "where" });
  where.append(`${run.method} ${run.path.replace(/^\/portal/, "")} in the sandbox of `, merchantOf(known, openAgain));
  form.append(where);
  const inputs = Object.entries(values).map(([name, value]) => {
    const input = element("input", { name, value, required: true, autocomplete: "off", spellcheck: false });
    form.append(labelled(name, input));
    return input;
  });
  const query = element("input", {
    value: new URLSearchParams(run.query).toString(),
    autocomplete: "off",
    spellcheck: false,
  });
  if (run.method === "GET") form.append(labelled("query", query));
  const body = element("textarea", { rows: 10, spellcheck: false });
  if (run.body) {
    body.value = JSON.stringify(await freshBody(run.body, known), null, 2);
    body.rows = Math.min(20, body.value.split("\n").length + 1);
    form.append(labelled("body", body));
  }
  const needsKey = run.method === "POST" || run.method === "PUT";
  if (needsKey) form.append(element("p", { className: "key", textContent: `Idempotency-Key: ${key}` }));
  const send = element("button", { type: "submit", className: "send", textContent: "Send" });
  const answer = element("div", { className: "answer", role: "status" });
  form.append(send);
  runner.replaceChildren(form, answer);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void perform();
  });
  const perform = async (): Promise<void> => {
    send.disabled = true;
    const path = inputs.reduce(
      (whole, { name, value }) => whole.replace(`{${name}}`, encodeURIComponent(value.trim())),
      run.path,
    );
    const text = query.value.trim().replace(/^\?/, "");
    await sendRequest(answer, {
      method: run.method,
      path: text === "" ? path : `${path}?${text}`,
      headers: {
        ...(run.path.startsWith("/portal/") ? headersOf(known) : {}),
        ...(needsKey ? { "idempotency-key": key, "content-type": "application/json" } : {}),
      },
      body: needsKey ? (run.body ? body.value : "{}") : undefined,
    });
    send.disabled = false;
    send.textContent = "Send again";
  };
  (inputs[0] ?? (run.body ? body : send)).focus();
}

/** Its name; where there are several, a choice, which is remembered. */
function merchantOf(known: Reader, openAgain: () => void): HTMLElement {
  if (known.others.length < 2) return element("b", { textContent: known.merchant.merchant_name });
  const select = element("select", { ariaLabel: "Merchant" });
  for (const { merchant_id: value, merchant_name: textContent } of known.others) {
    select.append(element("option", { value, textContent, selected: value === known.merchant.merchant_id }));
  }
  const change = async (): Promise<void> => {
    keep(localStorage, MERCHANT, select.value);
    await fill(true);
    openAgain();
  };
  select.addEventListener("change", () => void change());
  return select;
}

/** The newest object of the reader's own, of the kind that the path names: the one in the example is nobody's. */
async function newestValues({ path, values }: Runnable, known: Reader): Promise<Record<string, string>> {
  const [name] = Object.keys(values);
  const [, collection] =
    /^\/portal\/v1\/(?:sandbox\/)?(payments|refunds|disputes|settlements|events|payment-links)\/\{/.exec(path) ?? [];
  if (name === undefined || collection === undefined) return {};
  const newest = await newestOf(collection, known);
  const value = newest?.[name];
  return typeof value === "string" ? { [name]: value } : {};
}

async function newestOf(collection: string, known: Reader): Promise<Record<string, unknown> | undefined> {
  const answer = await fetch(`/portal/v1/${collection}${collection.includes("?") ? "&" : "?"}limit=1`, {
    headers: headersOf(known),
  }).catch(() => undefined);
  if (!answer?.ok) return undefined;
  return ((await answer.json()) as { data: Record<string, unknown>[] }).data[0];
}

/** An order has one payment, and a refund is of a payment that was paid. */
async function freshBody(body: Record<string, unknown>, known: Reader): Promise<Record<string, unknown>> {
  if ("reference_id" in body) return { ...body, reference_id: `docs-${Date.now().toString(36)}` };
  if ("payment_reference" in body) {
    const paid = await newestOf("payments?status=succeeded", known);
    if (paid) return { ...body, payment_reference: paid.reference };
  }
  return body;
}

interface Sent {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string | undefined;
}

async function sendRequest(into: HTMLElement, { method, path, headers, body }: Sent): Promise<void> {
  const begun = performance.now();
  const request: RequestInit = { method, headers, signal: AbortSignal.timeout(DEADLINE_MS) };
  if (body !== undefined) request.body = body;
  try {
    const answer = await fetch(path, request);
    const text = await answer.text();
    const ms = Math.round(performance.now() - begun);
    drawAnswer(into, answer, text, ms);
  } catch (error) {
    into.replaceChildren(element("p", { textContent: `No answer: ${(error as Error).message}` }));
  }
}

/** What readers look for among the headers. */
const TOLD = /^(content-type|x-request-id|x-idempotent-replay|x-ratelimit-.*|retry-after|allow|link)$/;

function drawAnswer(into: HTMLElement, answer: Response, text: string, ms: number): void {
  const status = element("p", { className: answer.ok ? "status good" : "status bad" });
  status.textContent = `${answer.status} ${answer.statusText} · ${ms} ms`.replace("  ", " ");
  const headers = [...answer.headers].filter(([name]) => TOLD.test(name)).map(([name, value]) => `${name}: ${value}`);
  const shown = pretty(text);
  const parts: HTMLElement[] = [status, block(headers.join("\n"), "Headers of the answer")];
  if (shown !== "") parts.push(block(shown.slice(0, ANSWER_CHARACTERS_MAX), "Body of the answer"));
  if (shown.length > ANSWER_CHARACTERS_MAX) parts.push(element("p", { textContent: "The rest is not shown." }));
  into.replaceChildren(...parts);
}

function block(text: string, what: string): HTMLElement {
  const pre = element("pre", { textContent: text, tabIndex: 0, role: "region", ariaLabel: what });
  return pre;
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text; // a statement is CSV, a health check may be a proxy's page
  }
}

let labels = 0;

function labelled(name: string, input: HTMLElement): HTMLElement {
  const label = element("label", { textContent: name, htmlFor: `run-${++labels}` });
  input.id = `run-${labels}`;
  const row = element("div", { className: "field" });
  row.append(label, input);
  return row;
}

/** What is put in is text, never HTML: it comes from answers. */
function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  properties: Partial<HTMLElementTagNameMap[Name]>,
): HTMLElementTagNameMap[Name] {
  return Object.assign(document.createElement(name), properties);
}
