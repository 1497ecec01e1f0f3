// Example identities, times and addresses of the OpenAPI documents, from which the rooms compose their own examples.
import type { IdKind } from "../ground/ids.ts";

/** One well-formed identity of each kind: the examples are about one payment and the objects that belong to it. */
export const exampleIds: Readonly<Record<IdKind, string>> = {
  payment: "pay_01kan3t5q8e4vs0x7ybd2m9fjh",
  refund: "rfd_01kan5c9w2f8zr4h6t1n3yqekp",
  settlement: "set_01kaq0m7d3x5jv8ce2w9gr4tbs",
  dispute: "dsp_01kar8e1z6m2qy5tk7h4n9bwcf",
  event: "evt_01kan3t6b7r9md3kq5x1zc8evw",
  request: "req_01kan3t5pzh6c2nb8w4fy7gmsd",
  merchant: "mer_01k9w7h2x4q6tn0ejr8zb5vcym",
  journal: "jrn_01kan4r8f5w3xt9qm2c6hy7bzd",
  delivery: "dlv_01kan3t6c9t4wb7ye5m2rh8qkx",
  receipt: "rcp_01kan4r8d2q7ng5zx3v6wk9tme",
  exception: "ctr_01kas2n4y8b6wh1qf9t5zd3xrc",
  person: "prs_01kan2b7k4c9vz6ye3m8qt1xhd",
  session: "ses_01kan2c5t8w3mx7bq1z6vy4ned",
  invitation: "inv_01kan2a9q6h4zt8cw2n5xb7ymd",
  passkey: "psk_01kan2d3m9r5wk7xe4q1tz8vcb",
  file: "fil_01kar9c2v7n4tx5bq8w3mz6hye",
  operatorToken: "otk_01k9w7h2zq3t8nv5xb6c4m1rye",
  refusal: "rej_01kan3w2h6z9tq4ym7c5b8xnde",
  incident: "inc_01kan5h3c8m2xw6tq9z4yb7vne",
  incidentUpdate: "inu_01kan5h3d4q7vz9nb2e6tx8mwc",
  approval: "apr_01kan5b8t3w6zn9qx2c7m4yhre",
  verification: "vrf_01kan6d4n2x8zq5tw9c3m7bhye",
  link: "lnk_01kan1v8c3x6tq9zm4b7e2wyhd",
};

/** Our name for a call of an acquirer. */
export const exampleOperationKey = `${exampleIds.payment.replace("_", "")}.${exampleIds.merchant.slice("mer_".length)}.s1`;

/** The example day, hour by hour. */
export const exampleTimes = {
  created: "2026-11-22T03:15:00Z",
  expires: "2026-11-22T03:45:00Z",
  paid: "2026-11-22T03:21:40Z",
  refunded: "2026-11-22T05:02:11Z",
  dayBegins: "2026-11-21T17:00:00Z",
  dayEnds: "2026-11-22T17:00:00Z",
  payout: "2026-11-22T18:00:00Z",
  disputed: "2026-11-23T08:30:00Z",
  evidenceDue: "2026-11-30T08:30:00Z",
  resolved: "2026-11-28T04:10:00Z",
} as const;

export const exampleClientId = "ak_test_3f9k2m7q1x8v5c4b6n0zt2w9";

export const exampleSecret = "sk_test_8w3n6z1k5v0c7b2x9q4m8t1r6y";

export const exampleWebhookSecret = "whsec_Zm9yLXRoZS1jb250cmFjdC1vbmx5LTAxMjM0NTY";

export const exampleAddress = "https://shop.example.com/webhooks/gerbang";

/** Has the form of a signature; no key made it. */
export const exampleSignature = "9c1f3f0f7b0c4d5e8a6b2d1e4f7a9c3b5d8e0f2a4c6b8d1e3f5a7c9b0d2e4f6a";
