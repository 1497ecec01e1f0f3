// Which face this build is, the merchants' portal or the operators' console: the root of its pages and of its API.
/// <reference types="vite/client" />

/** `/portal` for merchants, `/console` for operators. */
export const pagesRoot = import.meta.env.BASE_URL.replace(/\/$/, "");
/** The name under which the service is run. The service writes it into the index. */
export function serviceName(): string {
  return document.querySelector<HTMLMetaElement>('meta[name="application-name"]')?.content ?? "";
}
/** The API's path before `/v1`. */
export const apiRoot = pagesRoot === "/console" ? "/ops" : "/portal";
