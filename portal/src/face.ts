// Which of the faces these pages are, as they were built: where they live, and where their API is.
/// <reference types="vite/client" />

/** `/portal` for merchants, `/console` for operators. */
export const pagesRoot = import.meta.env.BASE_URL.replace(/\/$/, "");
/** What stands before the `/v1` of the API. */
export const apiRoot = pagesRoot === "/console" ? "/ops" : "/portal";
