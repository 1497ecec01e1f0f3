// Runs an example: sends it with the reader's portal session, only to the reader's sandbox, and shows the answer.
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

/** These pages call no other environment. */
const ENVIRONMENT = "sandbox";
const ANSWER_CHARACTERS_MAX = 100_000;
const DEADLINE_MS = 30_000;
const MERCHANT = "gerbang.docs.merchant";
/** The portal's storage key of the last place. A reader without it was never signed in, so no session is requested. */
const PLACE = "gerbang.place";
const NOBODY = "gerbang.docs.nobody";
const NOBODY_MS = 60_000;

const english = {
  lead: "It runs in your own sandbox.",
  signIn: "Sign in at the portal",
  andReturn: ", and come back to this page.",
  signedIn: "I am signed in",
  inSandboxOf: "in the sandbox of",
  merchant: "Merchant",
  query: "query",
  body: "body",
  send: "Send",
  sendAgain: "Send again",
  noAnswer: "No answer",
  tryAgain: "Try again",
  headers: "Headers of the answer",
  answer: "Body of the answer",
  rest: "The rest is not shown.",
  noPart: "This is no part of a path.",
};
const indonesian: typeof english = {
  lead: "Ini berjalan di sandbox Anda sendiri.",
  signIn: "Masuk di portal",
  andReturn: ", lalu kembali ke halaman ini.",
  signedIn: "Saya sudah masuk",
  inSandboxOf: "di sandbox milik",
  merchant: "Merchant",
  query: "kueri",
  body: "isi",
  send: "Kirim",
  sendAgain: "Kirim lagi",
  noAnswer: "Tidak ada jawaban",
  tryAgain: "Coba lagi",
  headers: "Header jawaban",
  answer: "Isi jawaban",
  rest: "Sisanya tidak ditampilkan.",
  noPart: "Ini bukan bagian dari sebuah path.",
};
const words = (): typeof english => (document.documentElement.lang === "id" ? indonesian : english);

/** A stored value; null when there is none or storage is forbidden. */
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
    // Without storage the value applies to this page only.
  }
}

let reader: Promise<Reader | undefined> | undefined;

/** The signed-in reader; undefined when nobody is signed in. Throws when no answer came. */
async function askReader(): Promise<Reader | undefined> {
  const answer = await fetch("/portal/v1/session");
  if (!answer.ok) return undefined;
  const { memberships, service } = (await answer.json()) as {
    memberships: Membership[];
    service: { base_url: string };
  };
  const last = kept(localStorage, MERCHANT) ?? kept(localStorage, PLACE)?.split("/")[0];
  const chosen = memberships.find(({ merchant_id: id }) => id === last) ?? memberships[0];
  return chosen && { merchant: chosen, others: memberships, baseUrl: service.base_url };
}

/** Fills in the reader's address and client_id. Unless `isAsking`, skips readers never signed in here, or found signed out within a minute. */
export async function fill(isAsking: boolean): Promise<void> {
  const nobodySince = Number(kept(sessionStorage, NOBODY) ?? 0);
  if (!isAsking && (kept(localStorage, PLACE) === null || Date.now() - nobodySince < NOBODY_MS)) return;
  const asked = askReader();
  let known: Reader | undefined;
  try {
    known = await asked;
  } catch {
    return; // no network: examples stay unchanged; a reader who runs one sees an error
  }
  reader = asked;
  if (!known) {
    keep(sessionStorage, NOBODY, String(Date.now()));
    return;
  }
  keep(sessionStorage, NOBODY, "0");
  write("root", known.baseUrl.replace(/\/v1$/, ""));
  const data = await listed<{ client_id: string; state: string; created_at: string }>("credentials?limit=100", known);
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

/** The first page of a list; empty when it cannot be read, since not every role may read every list, and examples work without it. */
async function listed<Item>(list: string, known: Reader): Promise<Item[]> {
  let answer: Response;
  try {
    answer = await fetch(`/portal/v1/${list}`, { headers: headersOf(known) });
  } catch (error) {
    if (error instanceof TypeError) return []; // no network: a reader who sends the request sees an error
    throw error;
  }
  return answer.ok ? ((await answer.json()) as { data: Item[] }).data : [];
}

/** Opens or closes the form below an example, for the request of this button. */
export async function openRun(button: HTMLElement): Promise<void> {
  const box = button.closest<HTMLElement>(".code");
  const open = box?.querySelector<HTMLElement>(".runner");
  open?.remove();
  if (!box || open?.dataset.request === button.dataset.run) return;
  const runner = element("div", { className: "runner" });
  runner.dataset.request = button.dataset.run ?? "";
  box.append(runner);
  const openAgain = (): void => {
    runner.remove();
    void openRun(button);
  };
  let known: Reader | undefined;
  try {
    known = (await reader) ?? (await (reader = askReader()));
  } catch (error) {
    reader = undefined;
    return drawFailure(runner, error, openAgain);
  }
  if (known) await drawForm(runner, JSON.parse(runner.dataset.request) as Runnable, known, openAgain);
  else drawSignIn(runner, openAgain);
}

function drawSignIn(runner: HTMLElement, openAgain: () => void): void {
  const { lead, signIn, andReturn, signedIn } = words();
  const link = element("a", { href: "/portal/sign-in", textContent: signIn, target: "_blank" });
  const again = element("button", { type: "button", textContent: signedIn, className: "send" });
  again.addEventListener("click", () => {
    reader = undefined;
    openAgain();
    void fill(true);
  });
  const text = element("p", {});
  text.append(`${lead} `, link, andReturn);
  runner.append(text, again);
  again.focus();
}

function drawFailure(runner: HTMLElement, error: unknown, openAgain: () => void): void {
  const again = element("button", { type: "button", textContent: words().tryAgain, className: "send" });
  again.addEventListener("click", openAgain);
  runner.append(element("p", { textContent: `${words().noAnswer}: ${(error as Error).message}` }), again);
  again.focus();
}

/** A form with the parts of the request that the reader can change: the merchant, the values in the path, the query and the body. */
async function drawForm(runner: HTMLElement, run: Runnable, known: Reader, openAgain: () => void): Promise<void> {
  const text = words();
  const newest = await newestValues(run, known);
  // A value from a shell variable is left empty when there is no newest object to take it from.
  const written = Object.entries(run.values).map(([name, value]) => [name, value.startsWith("$") ? "" : value]);
  const values: Record<string, string> = { ...Object.fromEntries(written), ...newest };
  const form = element("form", {});
  const key = `docs-${crypto.randomUUID()}`;
  const where = element("p", { className: "where" });
  where.append(`${run.method} ${run.path.replace(/^\/portal/, "")} ${text.inSandboxOf} `, merchantOf(known, openAgain));
  form.append(where);
  const inputs = Object.entries(values).map(([name, value]) => {
    const input = element("input", { name, value, required: true, autocomplete: "off", spellcheck: false });
    input.addEventListener("input", () => input.setCustomValidity(isPart(input.value) ? "" : text.noPart));
    form.append(labelled(name, input));
    return input;
  });
  const query = element("input", {
    value: new URLSearchParams(run.query).toString(),
    autocomplete: "off",
    spellcheck: false,
  });
  if (run.method === "GET") form.append(labelled(text.query, query));
  const body = element("textarea", { rows: 10, spellcheck: false });
  if (run.body) {
    body.value = JSON.stringify(await freshBody(run.body, known), null, 2);
    body.rows = Math.min(20, body.value.split("\n").length + 1);
    form.append(labelled(text.body, body));
  }
  const needsKey = run.method === "POST" || run.method === "PUT";
  if (needsKey) form.append(element("p", { className: "key", textContent: `Idempotency-Key: ${key}` }));
  const send = element("button", { type: "submit", className: "send", textContent: text.send });
  const answer = element("div", { className: "answer", role: "status" });
  form.append(send);
  runner.replaceChildren(form, answer);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void perform();
  });
  const perform = async (): Promise<void> => {
    send.disabled = true;
    const path = pathWith(run.path, Object.fromEntries(inputs.map(({ name, value }) => [name, value])));
    const asked = query.value.trim().replace(/^\?/, "");
    await sendRequest(answer, {
      method: run.method,
      path: asked === "" ? path : `${path}?${asked}`,
      headers: {
        ...(run.path.startsWith("/portal/") ? headersOf(known) : {}),
        ...(needsKey ? { "idempotency-key": key, "content-type": "application/json" } : {}),
      },
      body: needsKey ? (run.body ? body.value : "{}") : undefined,
    });
    send.disabled = false;
    send.textContent = text.sendAgain;
  };
  (inputs[0] ?? (run.body ? body : send)).focus();
}

/** The merchant's name; with several merchants a select, whose choice is stored. */
function merchantOf(known: Reader, openAgain: () => void): HTMLElement {
  if (known.others.length < 2) return element("b", { textContent: known.merchant.merchant_name });
  const select = element("select", { ariaLabel: words().merchant });
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

/** The id of the reader's newest object of the kind in the path, because the example's own id belongs to nobody. */
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
  const page = `${collection}${collection.includes("?") ? "&" : "?"}limit=1`;
  const [newest] = await listed<Record<string, unknown>>(page, known);
  return newest;
}

/** Whether a text can be a path segment. Browsers take one or two dots, however encoded, as a step upwards. */
export const isPart = (value: string): boolean => !/^(\.|%2e){1,2}$/i.test(value.trim());

/** A path with its values, each as one segment. Throws a RangeError for a value that cannot be one. */
export function pathWith(path: string, values: Readonly<Record<string, string>>): string {
  return Object.entries(values).reduce((whole, [name, value]) => {
    if (!isPart(value)) throw new RangeError(words().noPart);
    return whole.replace(`{${name}}`, encodeURIComponent(value.trim()));
  }, path);
}

/** The body with a new reference_id, which must be unique, or with a payment that was paid, which refunds need. */
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
    into.replaceChildren(element("p", { textContent: `${words().noAnswer}: ${(error as Error).message}` }));
  }
}

/** The headers that are shown with an answer. */
const TOLD = /^(content-type|x-request-id|x-idempotent-replay|x-ratelimit-.*|retry-after|allow|link)$/;

function drawAnswer(into: HTMLElement, answer: Response, text: string, ms: number): void {
  const status = element("p", { className: answer.ok ? "status good" : "status bad" });
  status.textContent = `${answer.status} ${answer.statusText} · ${ms} ms`.replace("  ", " ");
  const headers = [...answer.headers].filter(([name]) => TOLD.test(name)).map(([name, value]) => `${name}: ${value}`);
  const shown = pretty(text);
  const parts: HTMLElement[] = [status, block(headers.join("\n"), words().headers)];
  if (shown !== "") parts.push(block(shown.slice(0, ANSWER_CHARACTERS_MAX), words().answer));
  if (shown.length > ANSWER_CHARACTERS_MAX) parts.push(element("p", { textContent: words().rest }));
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
    return text; // statements are CSV, and a proxy may answer a health check with a page
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

/** Creates an element. Values from answers are set as text, never as HTML. */
function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  properties: Partial<HTMLElementTagNameMap[Name]>,
): HTMLElementTagNameMap[Name] {
  return Object.assign(document.createElement(name), properties);
}
