// The view of a session for pages: the person, the session, the person's rights, and the installation.
import { wireTime } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import type { People } from "../people/people.ts";
import type { SignedIn } from "../people/sessions.ts";
import type { SessionView } from "./session.schema.ts";

/** Data of the installation that pages need. */
export interface ServiceView {
  name: string;
  /** A function, because the address is final only once the service listens. */
  baseUrl: () => string;
  webhookHeaderPrefix: string;
  productionOpen: () => boolean;
  /** True when owners and operators must have a second factor. */
  secondFactorRequired: boolean;
}

interface SessionViewParts {
  people: People;
  service: ServiceView;
  /** A person's rights on this surface. */
  rights(personId: string): Promise<Pick<SessionView, "memberships" | "operator">>;
}

export class SessionViews {
  private readonly parts: SessionViewParts;

  constructor(parts: SessionViewParts) {
    this.parts = parts;
  }

  /** The view of a session that has just begun, by its token. Throws UNAUTHORIZED when it has ended already. */
  async ofToken(token: string): Promise<SessionView> {
    const signedIn = await this.parts.people.sessions.signedIn(token);
    if (!signedIn) throw new Fault("UNAUTHORIZED", { message: "The session ended while it began. Sign in again." });
    return this.of(signedIn);
  }

  async of({ person, session }: Pick<SignedIn, "person" | "session">): Promise<SessionView> {
    const { people, service } = this.parts;
    const [rights, codesLeft] = await Promise.all([
      this.parts.rights(person.personId),
      people.factors.recoveryCodesLeft(person.personId),
    ]);
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
        fresh_until: wireTime(people.sessions.freshUntil(session)),
      },
      ...rights,
      service: {
        name: service.name,
        base_url: service.baseUrl(),
        webhook_header_prefix: service.webhookHeaderPrefix,
        production_open: service.productionOpen(),
        second_factor_required: service.secondFactorRequired,
      },
    };
  }
}
