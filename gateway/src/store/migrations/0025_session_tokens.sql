-- A session lasts when its person proves again who they are, and only its token changes: what they began before, a long upload or an open
-- stream, goes on.
grant update (token_digest, created_at, address, user_agent) on sessions to gerbang_app;
