// Who is signed in, as a page is told: the person, the session, and what they may do for which merchant.
import { wireTime } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import type { People } from "../people/people.ts";
import { actionsOf } from "../people/roles.ts";
import type { SignedIn } from "../people/sessions.ts";
import type { SessionView } from "./session.schema.ts";

/** What a page has to know of the installation. */
export interface ServiceView {
  name: string;
  /** Known for certain once the service listens. */
  baseUrl: () => string;
  webhookHeaderPrefix: string;
  productionOpen: () => boolean;
  ownersNeedSecondFactor: boolean;
}

export class SessionViews {
  private readonly people: People;
  private readonly service: ServiceView;

  constructor(people: People, service: ServiceView) {
    this.people = people;
    this.service = service;
  }

  /** Of a session that has just begun, by its token. */
  async ofToken(token: string): Promise<SessionView> {
    const signedIn = await this.people.sessions.signedIn(token);
    if (!signedIn) throw new Fault("UNAUTHORIZED", { message: "The session ended while it began. Sign in again." });
    return this.of(signedIn);
  }

  async of({ person, session }: Pick<SignedIn, "person" | "session">): Promise<SessionView> {
    const [memberships, codesLeft] = await Promise.all([
      this.people.memberships(person.personId),
      this.people.recoveryCodesLeft(person.personId),
    ]);
    const { service } = this;
    return {
      person: {
        person_id: person.personId,
        email: person.email,
        name: person.name,
        language: person.language ?? null,
        time_zone: person.timeZone ?? null,
        has_password: person.passwordHash !== undefined,
        has_authenticator: person.hasAuthenticator,
        passkeys: person.passkeys,
        recovery_codes_left: codesLeft,
      },
      session: {
        session_id: session.sessionId,
        created_at: wireTime(session.createdAt),
        fresh_until: wireTime(this.people.sessions.freshUntil(session)),
      },
      memberships: memberships.map(({ merchantId, merchantName, role, language, timeZone }) => ({
        merchant_id: merchantId,
        merchant_name: merchantName,
        role,
        language: language ?? null,
        time_zone: timeZone ?? null,
        actions: { sandbox: [...actionsOf(role, "sandbox")], production: [...actionsOf(role, "production")] },
      })),
      service: {
        name: service.name,
        base_url: service.baseUrl(),
        webhook_header_prefix: service.webhookHeaderPrefix,
        production_open: service.productionOpen(),
        owners_need_second_factor: service.ownersNeedSecondFactor,
      },
    };
  }
}
