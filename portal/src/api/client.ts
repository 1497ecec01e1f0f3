// The client of the pages' API: sends merchant and environment, repeats calls after a proof of identity, and throws one kind of error.
import { queryOptions } from "@tanstack/react-query";
import createClient from "openapi-fetch";
import { apiRoot } from "../face.ts";
import type { paths } from "./contract.ts";
import { type ApiError, type Asked, asApiError, errorOf, noAnswer } from "./error.ts";
import { LostAnswers } from "./lost-answers.ts";
import { askForProof } from "./proof.ts";
import type { AnswerOf, Argument, OperationOf, ParametersOf, PathOf, RequestOf, WriteMethod } from "./types.ts";

export type Environment = "sandbox" | "production";

/** The merchant and the environment that a page is about. */
export interface Place {
  merchant: string;
  environment: Environment;
}

/** One wish of a person. Sent again after a lost answer, it carries the key of the first try and takes effect once. */
export interface Intent {
  key: string;
}

interface Sent {
  params: { path?: object; query?: object };
  body?: unknown;
  headers: Record<string, string>;
  signal?: AbortSignal;
}

const client = createClient<paths>({ baseUrl: apiRoot, fetch: (request: Request) => fetch(request) });

const lostAnswers = new LostAnswers();

/** Called when a refusal tells that the session is not what the page thinks: it has ended, or its person may do less than before. */
let sessionChanged: () => void = () => {};
export function onSessionChanged(listener: () => void): void {
  sessionChanged = listener;
}

/** Requests name the person whose page this is. Once someone else has signed in in this browser, the service refuses them. */
let personOfPage: () => string | undefined = () => undefined;
export function onBehalfOf(person: () => string | undefined): void {
  personOfPage = person;
}

/** The API for a person: with a place, about that merchant and environment; without a place, about the person. */
export class Api {
  readonly place: Place | undefined;

  constructor(place?: Place) {
    this.place = place;
  }

  /** Options for `useQuery`. Merchant and environment are part of the query key, so that answers about different places never mix. */
  read<Path extends PathOf<"GET">>(path: Path, ...[parameters]: Argument<ParametersOf<OperationOf<Path, "GET">>>) {
    return this.readDraft<AnswerOf<OperationOf<Path, "GET">>>(path, parameters as DraftParameters | undefined);
  }

  /** A query that the contract does not have yet; the caller gives its type. */
  readDraft<Answer>(path: string, parameters: DraftParameters = {}) {
    const params = paramsOf(parameters);
    return queryOptions<Answer, ApiError>({
      queryKey: [this.place?.merchant ?? "", this.place?.environment ?? "", path, params.path, params.query],
      queryFn: ({ signal }) => this.send<Answer>("GET", path, { params, headers: {}, signal }),
    });
  }

  /** Reads what no page shows or keeps, such as the pages of a download. */
  readOnce<Path extends PathOf<"GET">>(
    signal: AbortSignal,
    path: Path,
    ...[parameters]: Argument<ParametersOf<OperationOf<Path, "GET">>>
  ): Promise<AnswerOf<OperationOf<Path, "GET">>> {
    return this.send("GET", path, { params: paramsOf(parameters as DraftParameters | undefined), headers: {}, signal });
  }

  /** Calls the API to change something. Pass the intent of `useAction` where the endpoint takes an Idempotency-Key. */
  write<Method extends WriteMethod, Path extends PathOf<Method>>(
    method: Method,
    path: Path,
    ...[request, intent]: [...Argument<RequestOf<OperationOf<Path, Method>>>, intent?: Intent]
  ): Promise<AnswerOf<OperationOf<Path, Method>>> {
    return this.writeDraft(method, path, request as DraftRequest | undefined, intent as Intent | undefined);
  }

  /** A change that the contract does not have yet; the caller gives its type. */
  async writeDraft<Answer>(
    method: WriteMethod,
    path: string,
    { body, ...parameters }: DraftRequest = {},
    intent?: Intent,
  ): Promise<Answer> {
    const sent = { params: paramsOf(parameters), ...(body === undefined ? {} : { body }) };
    const change = JSON.stringify([this.headers(), method, path, sent]);
    const key = intent && lostAnswers.keyOf(change, intent.key, Date.now());
    const headers: Record<string, string> = key === undefined ? {} : { "idempotency-key": key };
    try {
      const answer = await this.send<Answer>(method, path, { ...sent, headers });
      lostAnswers.forget(change);
      return answer;
    } catch (thrown) {
      const error = asApiError(thrown);
      error.asked = key === undefined ? askedAt(path, error) : "keyed";
      if (key !== undefined && error.isOutcomeUnknown) lostAnswers.keep(change, key, Date.now());
      else if (!error.isBeforeKey) lostAnswers.forget(change);
      throw error;
    }
  }

  /** Sends a file as raw bytes. Reports its progress, from 0 to 1. */
  upload<Answer>(path: string, file: Blob, { headers = {}, onProgress, signal }: UploadOptions = {}): Promise<Answer> {
    // Fetch reports no upload progress.
    const request = new XMLHttpRequest();
    const answered = new Promise<string>((resolve, reject) => {
      request.addEventListener("error", () => reject(noAnswer()));
      request.addEventListener("abort", () => reject(noAnswer()));
      request.addEventListener("load", () => {
        const { status, responseText: text } = request;
        const names = ["retry-after", "x-request-id"];
        const found = names.flatMap((name): [string, string][] => {
          const value = request.getResponseHeader(name);
          return value === null ? [] : [[name, value]];
        });
        if (status < 300) resolve(text);
        else reject(errorOf({ status, headers: new Headers(found) }, text));
      });
    });
    if (onProgress) {
      request.upload.addEventListener("progress", ({ loaded, total }) => onProgress(total === 0 ? 0 : loaded / total));
    }
    signal?.addEventListener("abort", () => request.abort());
    request.open("POST", `${apiRoot}${path}`);
    for (const [name, value] of Object.entries({ ...this.headers(), ...headers }))
      request.setRequestHeader(name, value);
    request.send(file);
    return answered.then((text) => parsed<Answer>(text));
  }

  /**
   * Fetches a file for `save` of ui/download.ts. Its name is the one that the service gives a file from outside: that has the ending of what the file
   * is, whatever whoever sent it called it. With a body the request is a POST, which the audit records.
   */
  async download(path: string, body?: unknown): Promise<File> {
    const sent: RequestInit =
      body === undefined
        ? { headers: this.headers() }
        : {
            method: "POST",
            headers: { ...this.headers(), "content-type": "application/json" },
            body: JSON.stringify(body),
          };
    const response = await fetch(`${apiRoot}${path}`, sent).catch(() => {
      throw noAnswer();
    });
    if (response.ok) {
      const found = /filename\*=UTF-8''([^;]+)/.exec(response.headers.get("content-disposition") ?? "");
      return new File([await response.blob()], decodeURIComponent(found?.[1] ?? "download"));
    }
    throw await faultOf(response);
  }

  /** The headers that name the person, the merchant and the environment. */
  headers(): Record<string, string> {
    const person = personOfPage();
    return {
      ...(person === undefined ? {} : { "x-person-id": person }),
      ...(this.place ? { "x-merchant-id": this.place.merchant, "x-environment": this.place.environment } : {}),
    };
  }

  private async send<Answer>(method: string, path: string, sent: Sent, proven = false): Promise<Answer> {
    const asksWho = method === "GET" && path === "/v1/session";
    const headers = asksWho ? sent.headers : { ...sent.headers, ...this.headers() };
    const request = { ...sent, headers, parseAs: "stream" };
    const answered = client.request(method.toLowerCase() as never, path as never, request as never);
    const { response, error: found } = await answered.catch((error: unknown) => {
      throw sent.signal?.aborted ? error : noAnswer();
    });
    if (response.ok) return readAnswer<Answer>(response);
    const error = this.noted(errorOf(response, found), method, path);
    if (error.code !== "PROOF_REQUIRED" || proven) throw error;
    await askForProof(error);
    return this.send<Answer>(method, path, sent, true);
  }

  private noted(error: ApiError, method: string, path: string): ApiError {
    // Forms for proof and sign-in show their own errors. A failed change keeps the typed input: its page shows the error instead of the sign-in.
    if (error.status === 401 && (method === "GET" ? path !== "/v1/session" : proving.test(path))) sessionChanged();
    if (method === "GET" && error.code === "FORBIDDEN") sessionChanged();
    return error;
  }
}

/** Calls that change nothing, or only who is signed in. */
const harmless = /^\/v1\/session(\/|$)|\/(look|options|validate|what-if|encode|decode)$/;
/** Calls that a wrong password or code is refused at. */
const proving = /^\/v1\/(session(\/.*)?|person\/password|invitations\/accept)$/;

/** What a call without an idempotency key was. */
function askedAt(path: string, { status }: ApiError): Asked {
  if (status === 401 && proving.test(path)) return "proof";
  return harmless.test(path) ? "question" : "change";
}

interface UploadOptions {
  headers?: Record<string, string>;
  onProgress?: (sent: number) => void;
  signal?: AbortSignal;
}

export interface DraftParameters {
  path?: object | undefined;
  query?: object | undefined;
}
export interface DraftRequest extends DraftParameters {
  body?: unknown;
}

/** The parameters as they are sent: of the query, those that have a value. */
function paramsOf({ path = {}, query = {} }: DraftParameters = {}): { path: object; query: object } {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== "");
  return { path, query: Object.fromEntries(given) };
}

async function faultOf(response: Response): Promise<ApiError> {
  return errorOf(response, await response.text().catch(() => ""));
}

async function readAnswer<Answer>(response: Response): Promise<Answer> {
  const text = await response.text().catch(() => {
    throw noAnswer();
  });
  return parsed(text);
}

function parsed<Answer>(text: string): Answer {
  try {
    return (text === "" ? undefined : JSON.parse(text)) as Answer;
  } catch {
    throw noAnswer(); // what something else answered in the place of the service says of no outcome
  }
}
