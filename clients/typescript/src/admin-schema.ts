// Generated from openapi-admin.json by `npm run generate`; `index.ts` says what to import.

export interface paths {
    "/api/admin/v1/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List changes
         * @description Who changed keys, numbers, settings and data, when and from where: by a command, an operator key or a key of
         *     a workspace. Newest first. For the next page pass `next_before` and `next_before_id` of the answer, or with `format=ndjson`
         *     `occurred_at` and `id` of the last line, as `before` and `before_id`. A key that is limited to some workspaces sees the
         *     changes of those only.
         *
         *     Needs an operator key with the scope `audit:read`.
         */
        get: operations["auditAdmin_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/admin/v1/connections": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List numbers of all workspaces
         * @description Newest first, disconnected ones too; never with their tokens. For the next page pass `next_before` and `next_before_id` of the answer as
         *     `before` and `before_id`. A key that is limited to some workspaces lists the numbers of those.
         *
         *     Needs an operator key with the scope `connections:read`.
         */
        get: operations["allConnectionsAdmin_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/admin/v1/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read events in order
         * @description Workspaces, numbers and keys that were added, changed or removed, by a command, over HTTP, or by the platform. Each event is stored with the change
         *     itself, and is read once, in the order of the transactions: pass `next` of each answer as `after` of the following call. An event is given
         *     as soon as no transaction is open that began before its own; until then `done` is false. With `types` a page may be empty and `done` false:
         *     others were passed over.
         *
         *     Events are kept as long as the audit trail, 400 days unless the installation says otherwise. Those of a workspace that was deleted have no `changes`.
         *     With `wait` a call answers as soon as an event is there, or empty after so many seconds. Ten calls of a key may wait in one process; beyond
         *     that the answer is 429 with `scope: "waiting_readers"`. A key that is limited to some workspaces reads the events of those only.
         *
         *     Needs an operator key with the scope `events:read`.
         */
        get: operations["eventsAdmin_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/admin/v1/installation": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the installation
         * @description Whether it is ready, how many processes work, what waits in each queue, and which numbers have messages to send, as
         *     `herald queue status` shows it. Queues and numbers are counted at most every ten seconds.
         *
         *     Needs an operator key with the scope `installation:read`.
         */
        get: operations["installationAdmin_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/admin/v1/key": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the key
         * @description What the operator key of the call may do: its scopes, and the workspaces that it is limited to. Any valid operator key may ask, and
         *     a person with the role operator.
         */
        get: operations["operatorKeyAdmin_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/admin/v1/operator-keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List operator keys
         * @description Newest first, ended ones too; never with their secrets. For the next page pass `next_before` and `next_before_id` of
         *     the answer as `before` and `before_id`. A key that is limited to some workspaces lists those that are limited to some of these.
         *     Who made a key is in the audit trail: `GET /audit?action=operator_key.created`.
         *
         *     Needs an operator key with the scope `operator-keys:read`.
         */
        get: operations["operatorKeysAdmin_list"];
        put?: never;
        /**
         * Make an operator key
         * @description Its text is in `key` of this answer, and nowhere else: the service stores a hash. Keep it at once. A repeat with the same
         *     Idempotency-Key answers the same key with `key: null`. A key gives no more than it has: scopes of its own, workspaces that it may see, and an
         *     end that is not after its own. What it made stays when it ends.
         *
         *     Needs an operator key with the scope `operator-keys:write`.
         */
        post: operations["operatorKeysAdmin_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/admin/v1/operator-keys/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read an operator key
         * @description As in the list.
         *
         *     Needs an operator key with the scope `operator-keys:read`.
         */
        get: operations["operatorKeysAdmin_get"];
        put?: never;
        post?: never;
        /**
         * Revoke an operator key
         * @description Every process refuses it within five seconds, mostly at once. It stays in the list with `revoked_at`; keys that it made stay
         *     valid. Revoking it again changes nothing. A key may revoke itself, and others that have no scope which it lacks, whenever they end.
         *
         *     Needs an operator key with the scope `operator-keys:write`.
         */
        delete: operations["operatorKeysAdmin_revoke"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/admin/v1/operator-keys/{id}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Rotate an operator key
         * @description Makes a key of the same name, scopes and workspaces in its place. Both work for `overlap_seconds`, then the old one has
         *     expired. The new one never ends, or with the calling key where that ends. Its text is in `key` of this answer, and nowhere else. A key may rotate
         *     itself, and others that have no scope which it lacks.
         *
         *     Needs an operator key with the scope `operator-keys:write`.
         */
        post: operations["operatorKeysAdmin_rotate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/admin/v1/otp-sender": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the sender of codes
         * @description The service's own number, from which the codes of all projects are sent; never with its token.
         *
         *     Needs an operator key with the scope `otp:read`.
         */
        get: operations["otpSenderAdmin_get"];
        /**
         * Set the sender of codes
         * @description Checks token, number, account and template with the platform at once, subscribes to their notifications, and sends the codes of
         *     all projects from this number. Nothing is changed where one of these fails; `message` says what to mend.
         *
         *     Needs an operator key with the scope `otp:write`.
         */
        put: operations["otpSenderAdmin_set"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/admin/v1/people": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List people
         * @description Everybody who signed in and was let in, newest first, operators too. For the next page pass `next_before` and
         *     `next_before_id` of the answer as `before` and `before_id`.
         *
         *     Needs an operator key with the scope `people:read`.
         */
        get: operations["peopleAdmin_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/admin/v1/people/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a person
         * @description With the workspaces in which the person is a member, and the browsers in which the person is signed in.
         *
         *     Needs an operator key with the scope `people:read`.
         */
        get: operations["peopleAdmin_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/admin/v1/people/{id}/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Sign a person out everywhere
         * @description Ends all sessions of the person; every process refuses them within five seconds, mostly at once. At the issuer the person
         *     stays signed in, and can sign in again: take the person out of the groups there first.
         *
         *     Needs an operator key with the scope `people:write`.
         */
        delete: operations["peopleAdmin_endSessions"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/admin/v1/rates": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the prices
         * @description The prices of billable messages with which costs are estimated. They hold for all workspaces.
         *
         *     Needs an operator key with the scope `billing:read`.
         */
        get: operations["ratesAdmin_get"];
        /**
         * Replace the prices
         * @description All of them, by those of `csv`, as `herald rates set` does: docs/usage.md shows the form. The answer names what was billed lately
         *     and has no price. Prices in another currency are refused while a workspace has a limit of spending.
         *
         *     Needs an operator key with the scope `billing:write`.
         */
        put: operations["ratesAdmin_replace"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/admin/v1/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the usage of a month
         * @description Messages of all workspaces by number, country and category, with their estimated cost. A page is of `limit` workspaces,
         *     newest first, and may have no line: go on while `next_before` is not null. A key that is limited to some workspaces sees those.
         *
         *     Needs an operator key with the scope `usage:read`.
         */
        get: operations["usageAdmin_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/admin/v1/workspaces": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List workspaces
         * @description Newest first. For the next page pass `next_before` and `next_before_id` of the answer as `before` and
         *     `before_id`; both are null on the last page. A key that is limited to some workspaces lists those.
         *
         *     Needs an operator key with the scope `workspaces:read`.
         */
        get: operations["workspacesAdmin_list"];
        put?: never;
        /**
         * Make a workspace
         * @description It has no key and no number yet, and has not paid for anything: set `api_paid_until` with PATCH, unless the
         *     service runs with `BILLING=off`. With an `external_id`, your own id of the customer is enough to find it again.
         *
         *     Needs an operator key with the scope `workspaces:write`.
         */
        post: operations["workspacesAdmin_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/admin/v1/workspaces/{workspace_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a workspace
         * @description With what it uses and the limits that hold for it. `state` is `deleting` while its deletion goes on, and the
         *     answer 404 `WORKSPACE_NOT_FOUND` once that is over.
         *
         *     Needs an operator key with the scope `workspaces:read`.
         */
        get: operations["workspacesAdmin_get"];
        put?: never;
        post?: never;
        /**
         * Delete a workspace
         * @description With everything in it, as `herald workspace delete` does; this can't be undone. The answer comes at once: its keys and
         *     numbers end within seconds, and a worker removes its data. GET answers with `state: "deleting"` meanwhile, and 404 once it is over.
         *     The audit trail stays, without addresses and details.
         *
         *     Needs an operator key with the scope `workspaces:write`.
         */
        delete: operations["workspacesAdmin_remove"];
        options?: never;
        head?: never;
        /**
         * Change a workspace
         * @description Its name, your own id of it, until when it has paid, its limits and its time zone. What is left out stays as
         *     it is. A limit of null is the default of the service. Every process knows of it within seconds.
         *
         *     Needs an operator key with the scope `workspaces:write`.
         */
        patch: operations["workspacesAdmin_change"];
        trace?: never;
    };
    "/api/admin/v1/workspaces/{workspace_id}/connections": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List numbers
         * @description The WhatsApp numbers of the workspace, disconnected ones too; never with their tokens.
         *
         *     Needs an operator key with the scope `connections:read`.
         */
        get: operations["connectionsAdmin_list"];
        put?: never;
        /**
         * Add a number
         * @description Checks token, number and account with the platform at once, subscribes to their notifications, and stores the
         *     number. Nothing is stored where one of these fails; `message` says what to mend. A number that the workspace has already gets the
         *     new token and is connected again.
         *
         *     Needs an operator key with the scope `connections:write`.
         */
        post: operations["connectionsAdmin_add"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/admin/v1/workspaces/{workspace_id}/connections/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Disconnect a number
         * @description Nothing is sent from it until it is added again; what is queued waits. It stays in the list as `disconnected`.
         *
         *     Needs an operator key with the scope `connections:write`.
         */
        delete: operations["connectionsAdmin_disconnect"];
        options?: never;
        head?: never;
        /**
         * Change a number
         * @description By which endpoint of WhatsApp its marketing templates go. For a new token or another throughput add the number again.
         *
         *     Needs an operator key with the scope `connections:write`.
         */
        patch: operations["connectionsAdmin_change"];
        trace?: never;
    };
    "/api/admin/v1/workspaces/{workspace_id}/connections/{id}/check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Check a number
         * @description Asks the platform about the number with its stored token, and keeps what it says: name, quality, limits, state. A failure
         *     says in `message` what to mend.
         *
         *     Needs an operator key with the scope `connections:write`.
         */
        post: operations["connectionsAdmin_check"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/admin/v1/workspaces/{workspace_id}/connections/{id}/history/import": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Import a history
         * @description Imports what WhatsApp has handed over into the journal, as messages of `source: "history"`. A message that is there stays as it is, so an
         *     import may be repeated. A call ends after ten seconds: while `next` is not null, call again with it as `after`.
         *
         *     Needs an operator key with the scope `connections:write`.
         */
        post: operations["historyAdmin_run"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/admin/v1/workspaces/{workspace_id}/connections/{id}/history/request": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ask for a history
         * @description Asks WhatsApp for the history of a number of the WhatsApp Business app. It hands it over once, within 24 hours after the number
         *     was connected, in notifications that come within minutes. Then import it.
         *
         *     Needs an operator key with the scope `connections:write`.
         */
        post: operations["historyAdmin_request"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/admin/v1/workspaces/{workspace_id}/erasures": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Erase a person
         * @description What the workspace holds of one person, under every name of theirs, as `herald data erase` does; this can't be undone. Give exactly one of
         *     `number` and `user_id`. With `dry_run` it only counts. A person of whom there is nothing is erased too, with all counts 0.
         *
         *     A call ends after about ten seconds. While `more` is true a worker goes on by itself; to see when it is over, repeat the call with another
         *     Idempotency-Key, or wait for `contact.erased` in the audit trail. Files that the workspace uploaded stay, and so do logs and backups.
         *
         *     Needs an operator key with the scope `erasures:write`.
         */
        post: operations["erasuresAdmin_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/admin/v1/workspaces/{workspace_id}/invitations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List invitations
         * @description Newest first, ended ones too, for 90 days after their end. For the next page pass `next_before` and `next_before_id` of the answer as
         *     `before` and `before_id`.
         *
         *     Needs an operator key with the scope `people:read`.
         */
        get: operations["invitationsAdmin_list"];
        put?: never;
        /**
         * Invite a person
         * @description The first person who signs in with this address, verified by the issuer, is a member with this role. It works once, and ends by its time. One
         *     that waits for the same address is changed, and keeps its id. Herald sends no e-mail: send `sign_in_url` yourself. The answer is the same
         *     whether the person is known or not.
         *
         *     Needs an operator key with the scope `people:write`.
         */
        post: operations["invitationsAdmin_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/admin/v1/workspaces/{workspace_id}/invitations/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke an invitation
         * @description It cannot be accepted from then on. It stays in the list with `revoked_at`. Revoking it again changes nothing. One that
         *     was accepted is 409: remove the member.
         *
         *     Needs an operator key with the scope `people:write`.
         */
        delete: operations["invitationsAdmin_revoke"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/admin/v1/workspaces/{workspace_id}/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List keys
         * @description Of the workspace and of its OTP projects, newest first, ended ones too; never with their secrets. For the next
         *     page pass `next_before` and `next_before_id` of the answer as `before` and `before_id`.
         *
         *     Needs an operator key with the scope `keys:read`.
         */
        get: operations["keysAdmin_list"];
        put?: never;
        /**
         * Make a key
         * @description Its text is in `key` of this answer, and nowhere else: the service stores a hash. Keep it at once. A repeat with the same
         *     Idempotency-Key answers the same key with `key: null`. A person makes no key with scopes that the person's role lacks.
         *
         *     Needs an operator key with the scope `keys:write`.
         */
        post: operations["keysAdmin_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/admin/v1/workspaces/{workspace_id}/keys/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke a key
         * @description Every process refuses it within five seconds, mostly at once. It stays in the list with `revoked_at`. Revoking it again
         *     changes nothing.
         *
         *     Needs an operator key with the scope `keys:write`.
         */
        delete: operations["keysAdmin_revoke"];
        options?: never;
        head?: never;
        /**
         * Change a key
         * @description Its name, its scopes, and when it ends. What is left out stays as it is; the text of the key stays the same.
         *     Every process knows of it within five seconds.
         *
         *     Needs an operator key with the scope `keys:write`.
         */
        patch: operations["keysAdmin_change"];
        trace?: never;
    };
    "/api/admin/v1/workspaces/{workspace_id}/keys/{id}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Rotate a key
         * @description Makes a key of the same name and scopes in its place. Both work for `overlap_seconds`, then the old one has
         *     expired. The text of the new one is in `key` of this answer, and nowhere else.
         *
         *     Needs an operator key with the scope `keys:write`.
         */
        post: operations["keysAdmin_rotate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/admin/v1/workspaces/{workspace_id}/opt-out-keywords": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List opt-out keywords
         * @description The words by which customers of the workspace opt out and in, by language. A message counts that has nothing
         *     but such a word, whatever its case.
         *
         *     Needs an operator key with the scope `workspaces:read`.
         */
        get: operations["optOutKeywordsAdmin_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/admin/v1/workspaces/{workspace_id}/opt-out-keywords/{language}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Set opt-out keywords
         * @description Replaces the words of one language. A word means one thing in all languages; case and punctuation around it do not count.
         *
         *     Needs an operator key with the scope `workspaces:write`.
         */
        put: operations["optOutKeywordsAdmin_set"];
        post?: never;
        /**
         * Remove opt-out keywords
         * @description Takes the words of one language away. Customers who opted out by one of them stay opted out. Removing them again changes nothing.
         *
         *     Needs an operator key with the scope `workspaces:write`.
         */
        delete: operations["optOutKeywordsAdmin_remove"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/admin/v1/workspaces/{workspace_id}/otp-projects": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List OTP projects
         * @description The applications of the workspace that send one-time codes. Their keys are made with POST /workspaces/{workspace_id}/keys
         *     and `otp_project_id`.
         *
         *     Needs an operator key with the scope `otp:read`.
         */
        get: operations["otpProjectsAdmin_list"];
        put?: never;
        /**
         * Make an OTP project
         * @description A `sandbox` sends nothing and answers with the code; its keys begin with `hrld_test_`. A `live` project needs packages for the
         *     countries to which it sends, unless the service runs with `BILLING=off`.
         *
         *     Needs an operator key with the scope `otp:write`.
         */
        post: operations["otpProjectsAdmin_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/admin/v1/workspaces/{workspace_id}/otp-projects/{id}/packages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the packages of a project
         * @description What the project may send to each country in a calendar month (UTC), and what it has sent, newest month first.
         *
         *     Needs an operator key with the scope `otp:read`.
         */
        get: operations["otpProjectsAdmin_listPackages"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/admin/v1/workspaces/{workspace_id}/otp-projects/{id}/packages/{country}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Set a package
         * @description How many codes the project may send to the country in each calendar month (UTC), the present one too; 0 ends it.
         *
         *     Needs an operator key with the scope `otp:write`.
         */
        put: operations["otpProjectsAdmin_setPackage"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/admin/v1/workspaces/{workspace_id}/people": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List members
         * @description Of this workspace, newest first, with their roles. Operators are no members, and in no list of a workspace. An admin of the
         *     workspace, signed in, may call this as well.
         *
         *     Needs an operator key with the scope `people:read`.
         */
        get: operations["membersAdmin_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/admin/v1/workspaces/{workspace_id}/people/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Remove a member
         * @description The person has nothing in this workspace within five seconds, mostly at once. Who is a member by a group of the issuer is taken
         *     out of the group there: 409. Keys that the person made stay: revoke them where they are not wanted.
         *
         *     Needs an operator key with the scope `people:write`.
         */
        delete: operations["membersAdmin_remove"];
        options?: never;
        head?: never;
        /**
         * Change the role of a member
         * @description Every process knows of it within five seconds, mostly at once. A group of the issuer that gives a stronger role stays in force: 409.
         *
         *     Needs an operator key with the scope `people:write`.
         */
        patch: operations["membersAdmin_change"];
        trace?: never;
    };
    "/api/admin/v1/workspaces/{workspace_id}/people/{id}/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Sign a member out everywhere
         * @description Ends all sessions of the person, also where the person works in other workspaces. The person can sign in again.
         *
         *     Needs an operator key with the scope `people:write`.
         */
        delete: operations["membersAdmin_endSessions"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/admin/v1/workspaces/{workspace_id}/setup-links": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List setup links
         * @description Newest first, ended ones too; never with their addresses. For the next page pass `next_before` and `next_before_id`
         *     of the answer as `before` and `before_id`.
         *
         *     Needs an operator key with the scope `connections:read`.
         */
        get: operations["setupLinksAdmin_list"];
        put?: never;
        /**
         * Make a setup link
         * @description A page on which a business connects its number itself, step by step. Its address is in `url` of this answer, and nowhere
         *     else: send it to the business. It can be used once. A repeat with the same Idempotency-Key answers the same link with `url: null`.
         *
         *     Needs an operator key with the scope `connections:write`.
         */
        post: operations["setupLinksAdmin_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/admin/v1/workspaces/{workspace_id}/setup-links/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a setup link
         * @description How far the business is: each step, what failed and who can mend it, and the number once it is connected.
         *
         *     Needs an operator key with the scope `connections:read`.
         */
        get: operations["setupLinksAdmin_get"];
        put?: never;
        post?: never;
        /**
         * Revoke a setup link
         * @description Its page says so from then on; a step that is under way is finished. It stays in the list with `revoked_at`. Revoking it again changes
         *     nothing. Of a link that was used the number stays connected: 409.
         *
         *     Needs an operator key with the scope `connections:write`.
         */
        delete: operations["setupLinksAdmin_revoke"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        AddConnectionRequest: {
            /**
             * @description Endpoint for marketing templates: what WhatsApp asks for (`auto`), or always `messages`.
             * @enum {string}
             */
            marketing_route?: "auto" | "messages";
            /** @description The number itself, digits only, where the platform does not report it. */
            phone_number?: string;
            /**
             * @description The platform's id of the number, from the API setup page of the Meta app.
             * @example 106540352242922
             */
            phone_number_id: string;
            /** @description Messages a second; left out: as the platform says. */
            throughput_per_second?: number;
            /**
             * @description Access token of a system user; it is stored encrypted, and shown nowhere.
             * @example <token of a system user>
             */
            token: string;
            /**
             * @description Id of the WhatsApp Business Account that has the number.
             * @example 102290129340398
             */
            waba_id: string;
        };
        AllConnectionsResponse: {
            data: components["schemas"]["OperatedConnectionResponse"][];
            pagination: components["schemas"]["PaginationResponse"];
        };
        ApiKeyListResponse: {
            data: components["schemas"]["ApiKeyResponse"][];
            pagination: components["schemas"]["PaginationResponse"];
        };
        ApiKeyResponse: {
            /**
             * Format: date-time
             * @example 2026-11-21T08:00:00.125Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description Null: never.
             * @example null
             */
            expires_at: string | null;
            /**
             * @description The public part of the key's text.
             * @example y4zZjPLnlOBt
             */
            id: string;
            /**
             * Format: date-time
             * @description The last use, or up to a minute before it; null: not used yet.
             * @example 2026-11-21T08:00:00.125Z
             */
            last_used_at: string | null;
            /** @example orders-service */
            name: string;
            /**
             * Format: uuid
             * @description Of a key for one-time codes; null: one of the workspace.
             * @example null
             */
            otp_project_id: string | null;
            /**
             * Format: date-time
             * @example null
             */
            revoked_at: string | null;
            /**
             * @example [
             *       "messages:read",
             *       "messages:write"
             *     ]
             */
            scopes: ("connections:read" | "messages:read" | "messages:write" | "templates:read" | "templates:write" | "profile:read" | "profile:write" | "media:read" | "media:write" | "webhooks:read" | "webhooks:write" | "otp:send" | "otp:verify" | "otp:read")[];
            /**
             * Format: uuid
             * @example 01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f
             */
            workspace_id: string;
        };
        AuditEventResponse: {
            /** @example key.created */
            action: string;
            /**
             * @description Id of the key, operator key or setup link, or the account's name.
             * @example Zq3vTn8RkW1b
             */
            actor: string | null;
            /**
             * @description A key of a workspace, an account that ran a command, an operator key, a person with a setup link, or the service itself.
             * @example operator_key
             * @enum {string}
             */
            actor_kind: "key" | "operator" | "operator_key" | "person" | "setup_link" | "service";
            /**
             * @description The caller's address, or the machine on which a command ran.
             * @example 203.0.113.7
             */
            address: string | null;
            /**
             * @description What was changed; never a secret.
             * @example {
             *       "name": "orders-service",
             *       "scopes": [
             *         "messages:write"
             *       ]
             *     }
             */
            details: {
                [key: string]: unknown;
            } | null;
            /** @example 4711 */
            id: string;
            /**
             * Format: date-time
             * @example 2026-11-21T08:00:00.125Z
             */
            occurred_at: string;
            /**
             * @description Id of what was changed.
             * @example y4zZjPLnlOBt
             */
            target: string | null;
            /**
             * Format: uuid
             * @description Null: it concerns the whole service.
             * @example 01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f
             */
            workspace_id: string | null;
        };
        AuditListResponse: {
            data: components["schemas"]["AuditEventResponse"][];
            pagination: components["schemas"]["PaginationResponse"];
        };
        ChangeConnectionRequest: {
            /**
             * @description Endpoint for marketing templates: what WhatsApp asks for (`auto`), or always `messages`.
             * @example messages
             * @enum {string}
             */
            marketing_route: "auto" | "messages";
        };
        ChangeKeyRequest: {
            /** @description Seconds from now after which it ends; null: never. */
            expires_in?: number | null;
            /**
             * @description What it is called in lists.
             * @example orders-service
             */
            name?: string;
            /**
             * @description What it may do from now on.
             * @example [
             *       "messages:read"
             *     ]
             */
            scopes?: ("connections:read" | "messages:read" | "messages:write" | "templates:read" | "templates:write" | "profile:read" | "profile:write" | "media:read" | "media:write" | "webhooks:read" | "webhooks:write" | "otp:send" | "otp:verify" | "otp:read")[];
        };
        ChangeMemberRequest: {
            /**
             * @description What the person may do in this workspace from now on.
             * @example agent
             * @enum {string}
             */
            role: "viewer" | "agent" | "developer" | "admin";
        };
        ChangeWorkspaceRequest: {
            /**
             * Format: date-time
             * @description Until when it has paid for sending; null: not at all. Not asked for with `BILLING=off`.
             */
            api_paid_until?: string | null;
            /**
             * @description Your own id of the customer; null: none.
             * @example customer-4711
             */
            external_id?: string | null;
            /** @description Marketing templates to one recipient in a week, from Monday on; null: any number. */
            marketing_per_recipient_per_week?: number | null;
            /** @description Messages that are accepted in a day; null: any number. */
            messages_per_day?: number | null;
            /**
             * @description What it is called in lists.
             * @example Lighthouse Coffee
             */
            name?: string;
            /** @description Requests that each key may make at once; null: the default of the service. */
            rate_burst?: number | null;
            /** @description Requests a second of each of its keys; null: the default of the service. */
            rate_per_second?: number | null;
            /**
             * @description Estimated cost of the messages of a month, in the currency of the prices; null: any amount.
             * @example 250.00
             */
            spend_per_month?: string | null;
            /** @description Bytes of stored files; null: the default of the service. */
            storage_limit_bytes?: number | null;
            /**
             * @description Where its days, weeks and months begin.
             * @example Europe/Berlin
             */
            time_zone?: string;
        };
        CostResponse: {
            /** @example 12.4410 */
            amount: string;
            /** @example EUR */
            currency: string;
        };
        CreateInvitationRequest: {
            /**
             * @description Who signs in first with this address, verified by the issuer, has the role.
             * @example robin@example.com
             */
            email: string;
            /** @description Seconds after which the invitation has ended. Default: 604800. */
            expires_in?: number;
            /**
             * @example agent
             * @enum {string}
             */
            role: "viewer" | "agent" | "developer" | "admin";
        };
        CreateKeyRequest: {
            /** @description Seconds after which it ends; left out: never. */
            expires_in?: number;
            /**
             * @description What it is called in lists.
             * @example orders-service
             */
            name: string;
            /**
             * Format: uuid
             * @description The key is one of this OTP project, for one-time codes only.
             */
            otp_project_id?: string;
            /**
             * @description What it may do. One of an OTP project has scopes that begin with `otp:`, every other key has none of these.
             * @example [
             *       "messages:read",
             *       "messages:write"
             *     ]
             */
            scopes: ("connections:read" | "messages:read" | "messages:write" | "templates:read" | "templates:write" | "profile:read" | "profile:write" | "media:read" | "media:write" | "webhooks:read" | "webhooks:write" | "otp:send" | "otp:verify" | "otp:read")[];
        };
        CreateOperatorKeyRequest: {
            /** @description Seconds after which it ends; left out: never, which no key gives that ends itself. */
            expires_in?: number;
            /**
             * @description What it is called in lists.
             * @example onboarding
             */
            name: string;
            /**
             * @description What it may do. A key gives only scopes that it has.
             * @example [
             *       "workspaces:read",
             *       "keys:write"
             *     ]
             */
            scopes: ("workspaces:read" | "workspaces:write" | "keys:read" | "keys:write" | "operator-keys:read" | "operator-keys:write" | "connections:read" | "connections:write" | "people:read" | "people:write" | "erasures:write" | "otp:read" | "otp:write" | "billing:read" | "billing:write" | "usage:read" | "audit:read" | "events:read" | "installation:read")[];
            /**
             * @description The only workspaces that exist for it. Null or left out: all, which no key gives that is limited itself.
             * @example [
             *       "01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f"
             *     ]
             */
            workspace_ids?: string[] | null;
        };
        CreateOtpProjectRequest: {
            /**
             * @description Countries to which it may send, ISO 3166 alpha-2; left out: any.
             * @example [
             *       "DE",
             *       "US"
             *     ]
             */
            allowed_countries?: string[];
            /**
             * @description `sandbox` sends nothing, and answers with the code.
             * @example live
             * @enum {string}
             */
            mode: "sandbox" | "live";
            /**
             * @description What it is called in lists.
             * @example Login
             */
            name: string;
            /** @description Language of the template that carries the codes. Default: en_US. */
            template_language?: string;
        };
        CreateSetupLinkRequest: {
            /** @description Seconds after which the link has ended. Default: 604800. */
            expires_in?: number;
            /** @description Language of the dialog of Meta, such as `de_DE`; of the page too, where it has that language. Default: en_US. */
            locale?: string;
            /**
             * Format: uri
             * @description Where the page leads at the end, with `setup` and `status` added; its origin must be one of SETUP_RETURN_ORIGINS.
             */
            return_url?: string | null;
            /**
             * @description How the business gives access to its number: `cloud` by the dialog of Meta, `app` the same for a number that stays in the WhatsApp
             *     Business app, `manual` by ids and a token that it pastes. Default: `cloud` where embedded signup is set up, else `manual`.
             * @example manual
             * @enum {string}
             */
            signup?: "cloud" | "app" | "manual";
        };
        CreateWorkspaceRequest: {
            /**
             * @description Your own id of the customer, unique among all workspaces; GET /workspaces finds the workspace by it.
             * @example customer-4711
             */
            external_id?: string | null;
            /**
             * @description What it is called in lists.
             * @example Lighthouse Coffee
             */
            name: string;
        };
        DeliveryTimesResponse: {
            /**
             * @description Half of the delivered messages took no longer, about.
             * @example 1240
             */
            p50: number;
            /** @example 4800 */
            p95: number;
        };
        EffectiveLimitsResponse: {
            /**
             * @description Whether it must have paid in order to send.
             * @example true
             */
            needs_subscription: boolean;
            /** @example 100 */
            rate_burst: number;
            /** @example 50 */
            rate_per_second: number;
            /**
             * @description Null: any number.
             * @example null
             */
            storage_limit_bytes: number | null;
        };
        EraseRequest: {
            /** @description Only counts, and changes nothing. Default: false. */
            dry_run?: boolean;
            /**
             * @description The person's number with its country code, without 00; a leading + may stand before it.
             * @example +15550100001
             */
            number?: string;
            /** @description Instead of `number`: the person's user id, from `contact.user_id`. */
            user_id?: string;
        };
        ErasureResponse: {
            /**
             * @description How many of what, in this call.
             * @example {
             *       "cancelled_messages": 1,
             *       "messages": 42,
             *       "received_files": 3,
             *       "opt_outs": 0,
             *       "contacts": 1
             *     }
             */
            counts: {
                [key: string]: number;
            };
            /**
             * @description All of it is gone.
             * @example true
             */
            erased: boolean;
            /**
             * @description There is more than this call came to in ten seconds. A worker goes on with an erasure until it is done.
             * @example false
             */
            more: boolean;
            /**
             * @description Spellings and ids under which the person was looked for.
             * @example 2
             */
            names: number;
            /**
             * @description What is in progress and can be erased only when it has ended, such as a message that is being sent.
             * @example []
             */
            waits_for: string[];
        };
        ErrorDetail: {
            /**
             * @description Path of the field; empty: the body as a whole.
             * @example text.body
             */
            field: string;
            /** @example text.body must be 1 to 4096 characters long. */
            message: string;
            /**
             * @description Which rule it breaks.
             * @example length
             */
            rule: string;
        };
        /** @description Every error answer. Beside the fields named here stand those of its code. */
        ErrorResponse: {
            error: {
                /**
                 * @description Stable; decide by it.
                 * @example INVALID_REQUEST
                 */
                code: string;
                /** @description The invalid fields, where the request was invalid. */
                details?: components["schemas"]["ErrorDetail"][];
                /**
                 * Format: uri
                 * @description More about this code.
                 */
                doc_url: string;
                /** @description One sentence for people that says what to do. */
                message: string;
                /** @description Names this request in our logs. */
                request_id: string;
            } & {
                [key: string]: unknown;
            };
        };
        ImportedHistoryResponse: {
            /**
             * @description The business does not share its history.
             * @example false
             */
            declined: boolean;
            /**
             * @description Messages in them, repeats included.
             * @example 480
             */
            found: number;
            /** @example 478 */
            imported: number;
            /**
             * Format: uuid
             * @description Pass it as `after` of another call: the time of this one was over. Null: all that came was read.
             * @example 01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f
             */
            next: string | null;
            /**
             * @description Notifications with a part of the history that were read.
             * @example 12
             */
            notifications: number;
            /**
             * @description Per cent of the history that the platform has handed over; null: it did not say.
             * @example 100
             */
            progress: number | null;
            /** @example 0 */
            unreadable: number;
        };
        ImportHistoryRequest: {
            /**
             * Format: uuid
             * @description `next` of the answer before. Left out: from the beginning, which is harmless after an import.
             */
            after?: string;
        };
        InstallationResponse: {
            /**
             * @description The database is another one than before: nothing is sent until `herald restore` decides.
             * @example false
             */
            held: boolean;
            /** @description Numbers with messages that wait or are under way, the busiest first; up to 100. */
            lanes: components["schemas"]["LaneResponse"][];
            /**
             * @description Messages that wait for a decision, of each number up to 1,000.
             * @example 0
             */
            outcome_unknown: number;
            /** @description What readiness looks at: the database, the sweeps of all workers, and more. */
            parts: components["schemas"]["ReadinessPartResponse"][];
            queues: components["schemas"]["QueueResponse"][];
            /**
             * @description Of the process that answered.
             * @example true
             */
            ready: boolean;
            /** @example 0.2.0 */
            version: string;
            /**
             * @description Processes that send and deliver at this moment.
             * @example 2
             */
            workers: number;
        };
        InvitationListResponse: {
            data: components["schemas"]["InvitationResponse"][];
            pagination: components["schemas"]["PaginationResponse"];
        };
        InvitationResponse: {
            /**
             * Format: date-time
             * @example null
             */
            accepted_at: string | null;
            /**
             * Format: date-time
             * @example 2026-11-21T08:00:00.125Z
             */
            created_at: string;
            /** @example robin@example.com */
            email: string;
            /**
             * Format: date-time
             * @example 2026-11-28T08:00:00.125Z
             */
            expires_at: string;
            /**
             * Format: uuid
             * @example 01936f75-4f50-7e61-8273-8d9e0f1a2b3c
             */
            id: string;
            /**
             * Format: uuid
             * @description The person who accepted it; null: none yet.
             * @example null
             */
            person_id: string | null;
            /**
             * Format: date-time
             * @example null
             */
            revoked_at: string | null;
            /**
             * @example agent
             * @enum {string}
             */
            role: "viewer" | "agent" | "developer" | "admin";
            /**
             * @description Where the person signs in: send it to them, as Herald sends no e-mail. Null: no issuer is set up, so it cannot be accepted yet.
             * @example https://herald.example/console
             */
            sign_in_url: string | null;
            /**
             * @description `accepted`: a person signed in with the address, is a member, and the invitation has ended.
             * @example open
             * @enum {string}
             */
            status: "open" | "accepted" | "revoked" | "expired";
            /**
             * Format: uuid
             * @example 01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f
             */
            workspace_id: string;
        };
        IssuedKeyResponse: {
            /**
             * Format: date-time
             * @example 2026-11-21T08:00:00.125Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description Null: never.
             * @example null
             */
            expires_at: string | null;
            /**
             * @description The public part of the key's text.
             * @example y4zZjPLnlOBt
             */
            id: string;
            /**
             * @description The whole text for the header Authorization. It is shown in this answer only: null in the answer to a repeat.
             * @example hrld_live_y4zZjPLnlOBt_example
             */
            key: string | null;
            /**
             * Format: date-time
             * @description The last use, or up to a minute before it; null: not used yet.
             * @example 2026-11-21T08:00:00.125Z
             */
            last_used_at: string | null;
            /** @example orders-service */
            name: string;
            /**
             * Format: uuid
             * @description Of a key for one-time codes; null: one of the workspace.
             * @example null
             */
            otp_project_id: string | null;
            /**
             * Format: date-time
             * @example null
             */
            revoked_at: string | null;
            /**
             * @example [
             *       "messages:read",
             *       "messages:write"
             *     ]
             */
            scopes: ("connections:read" | "messages:read" | "messages:write" | "templates:read" | "templates:write" | "profile:read" | "profile:write" | "media:read" | "media:write" | "webhooks:read" | "webhooks:write" | "otp:send" | "otp:verify" | "otp:read")[];
            /**
             * Format: uuid
             * @example 01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f
             */
            workspace_id: string;
        };
        IssuedOperatorKeyResponse: {
            /**
             * Format: date-time
             * @example 2026-11-21T08:00:00.125Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When the key or the session ends; null: never.
             * @example null
             */
            expires_at: string | null;
            /**
             * @description The public part of the key's text, or the person's id.
             * @example Zq3vTn8RkW1b
             */
            id: string;
            /**
             * @description The whole text for the header Authorization. It is shown in this answer only: null in the answer to a repeat.
             * @example hrld_admin_Zq3vTn8RkW1b_example
             */
            key: string | null;
            /**
             * Format: date-time
             * @description The last use, or up to a minute before it; null: not used yet.
             * @example 2026-11-21T08:00:00.125Z
             */
            last_used_at: string | null;
            /** @example onboarding */
            name: string;
            /**
             * Format: date-time
             * @example null
             */
            revoked_at: string | null;
            /**
             * @example [
             *       "workspaces:read",
             *       "keys:write"
             *     ]
             */
            scopes: ("workspaces:read" | "workspaces:write" | "keys:read" | "keys:write" | "operator-keys:read" | "operator-keys:write" | "connections:read" | "connections:write" | "people:read" | "people:write" | "erasures:write" | "otp:read" | "otp:write" | "billing:read" | "billing:write" | "usage:read" | "audit:read" | "events:read" | "installation:read")[];
            /**
             * @description The only workspaces that exist for it; null: all.
             * @example null
             */
            workspace_ids: string[] | null;
        };
        IssuedSetupLinkResponse: {
            /**
             * Format: date-time
             * @example null
             */
            completed_at: string | null;
            /**
             * Format: uuid
             * @description The number that was connected with it; null: none yet.
             * @example 01936f6d-0a1b-7f00-8c11-5a6b7c8d9e0f
             */
            connection_id: string | null;
            /**
             * Format: date-time
             * @example 2026-11-21T08:00:00.125Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @example 2026-11-28T08:00:00.125Z
             */
            expires_at: string;
            /**
             * Format: uuid
             * @example 01936f74-2d3e-7c4f-9051-6b7c8d9e0f1a
             */
            id: string;
            /** @example en_US */
            locale: string;
            /**
             * Format: date-time
             * @description When its page was opened first; null: not yet.
             * @example null
             */
            opened_at: string | null;
            /** @example null */
            return_url: string | null;
            /**
             * Format: date-time
             * @example null
             */
            revoked_at: string | null;
            /**
             * @example manual
             * @enum {string}
             */
            signup: "cloud" | "app" | "manual";
            /**
             * @description `completed`: a number was connected with it, and the link has ended.
             * @example open
             * @enum {string}
             */
            status: "open" | "completed" | "revoked" | "expired";
            /** @description In their order, with what failed and who can mend it. */
            steps: components["schemas"]["SetupStepResponse"][];
            /**
             * @description The address of its page: a person who has it can connect a number. It is in this answer only: null in the answer to a repeat.
             * @example https://herald.example/setup/hrld_setup_example
             */
            url: string | null;
            /**
             * Format: uuid
             * @example 01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f
             */
            workspace_id: string;
        };
        KeywordsListResponse: {
            data: components["schemas"]["KeywordsResponse"][];
        };
        KeywordsResponse: {
            /**
             * @example [
             *       "start"
             *     ]
             */
            in: string[];
            /** @example de */
            language: string;
            /**
             * @example [
             *       "stopp",
             *       "keine werbung"
             *     ]
             */
            out: string[];
        };
        LaneResponse: {
            /**
             * Format: uuid
             * @example 01936f6d-0a1b-7f00-8c11-5a6b7c8d9e0f
             */
            connection_id: string;
            /**
             * @description State of the number.
             * @example connected
             */
            connection_status: string;
            /**
             * @description A worker sends from it at this moment.
             * @example true
             */
            draining: boolean;
            /**
             * @description Those whose turn has come.
             * @example 12
             */
            due: number;
            /** @example 3 */
            in_flight: number;
            /** @example 140 */
            oldest_due_ms: number | null;
            /** @example null */
            pause_reason: string | null;
            /**
             * Format: date-time
             * @example null
             */
            paused_until: string | null;
            /** @example 15550000001 */
            phone_number: string;
            /** @example 12 */
            queued: number;
            /** @example 0 */
            scheduled: number;
            /**
             * Format: uuid
             * @example 01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f
             */
            workspace_id: string;
        };
        ListedOperatorKeyResponse: {
            /**
             * Format: date-time
             * @example 2026-11-21T08:00:00.125Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When the key or the session ends; null: never.
             * @example null
             */
            expires_at: string | null;
            /**
             * @description The public part of the key's text, or the person's id.
             * @example Zq3vTn8RkW1b
             */
            id: string;
            /**
             * Format: date-time
             * @description The last use, or up to a minute before it; null: not used yet.
             * @example 2026-11-21T08:00:00.125Z
             */
            last_used_at: string | null;
            /** @example onboarding */
            name: string;
            /**
             * Format: date-time
             * @example null
             */
            revoked_at: string | null;
            /**
             * @example [
             *       "workspaces:read",
             *       "keys:write"
             *     ]
             */
            scopes: ("workspaces:read" | "workspaces:write" | "keys:read" | "keys:write" | "operator-keys:read" | "operator-keys:write" | "connections:read" | "connections:write" | "people:read" | "people:write" | "erasures:write" | "otp:read" | "otp:write" | "billing:read" | "billing:write" | "usage:read" | "audit:read" | "events:read" | "installation:read")[];
            /**
             * @description The only workspaces that exist for it; null: all.
             * @example null
             */
            workspace_ids: string[] | null;
        };
        MemberListResponse: {
            data: components["schemas"]["MemberResponse"][];
            pagination: components["schemas"]["PaginationResponse"];
        };
        MemberResponse: {
            /**
             * Format: date-time
             * @description When the person became a member.
             * @example 2026-11-21T08:00:00.125Z
             */
            created_at: string;
            /**
             * @description As of the last sign-in.
             * @example robin@example.com
             */
            email: string;
            /**
             * @description By an invitation, or set since; null: by none.
             * @example agent
             * @enum {string|null}
             */
            given_role: "viewer" | "agent" | "developer" | "admin" | null;
            /**
             * @description By a group of the issuer, as of the last sign-in; null: by none.
             * @example null
             * @enum {string|null}
             */
            group_role: "viewer" | "agent" | "developer" | "admin" | null;
            /**
             * Format: uuid
             * @example 01936f75-3e4f-7d50-8162-7c8d9e0f1a2b
             */
            id: string;
            /**
             * Format: date-time
             * @example 2026-11-21T08:00:00.125Z
             */
            last_signed_in_at: string;
            /** @example Robin Wells */
            name: string;
            /**
             * @description The stronger one of both.
             * @example agent
             * @enum {string}
             */
            role: "viewer" | "agent" | "developer" | "admin";
        };
        OperatedConnectionListResponse: {
            data: components["schemas"]["OperatedConnectionResponse"][];
        };
        OperatedConnectionResponse: {
            /**
             * Format: date-time
             * @example 2026-11-21T08:00:00.000Z
             */
            created_at: string;
            /**
             * Format: uuid
             * @description Connection ID, used as `connection_id` when sending.
             * @example 01936f6d-0a1b-7f00-8c11-5a6b7c8d9e0f
             */
            id: string;
            /**
             * @description Which endpoint of WhatsApp marketing templates go by: the one that it asks for, or always `messages`.
             * @example auto
             * @enum {string}
             */
            marketing_route: "auto" | "messages";
            /**
             * @description WhatsApp's word on whether the account may use its endpoint of marketing messages; only `ONBOARDED` may.
             * @example ONBOARDED
             */
            marketing_status: string | null;
            /**
             * @description How many people the business may write to first in 24 hours.
             * @example TIER_2K
             */
            messaging_limit: string | null;
            /**
             * @description The number with its country code, digits only.
             * @example 15550100001
             */
            phone_number: string;
            /**
             * @description The platform's id of the number.
             * @example 106540352242922
             */
            phone_number_id: string;
            /**
             * @description The platform's rating of the number: GREEN, YELLOW, RED or UNKNOWN.
             * @example GREEN
             */
            quality_rating: string | null;
            /**
             * Format: date-time
             * @description When the number's free service messages of a month were used up last: later ones are charged.
             * @example null
             */
            service_charged_since: string | null;
            /**
             * @example connected
             * @enum {string}
             */
            status: "connected" | "pending" | "disconnected" | "restricted";
            /**
             * @description Why it is not connected: its token was refused, it was disconnected by hand, the platform says so, its account was
             *     removed from the app or the platform, or has no valid payment method.
             * @example null
             * @enum {string|null}
             */
            status_reason: "token_refused" | "disconnected_by_operator" | "platform" | "account_removed" | "payment_missing" | null;
            /**
             * @description Messages a second that the platform takes from this number.
             * @example 80
             */
            throughput_per_second: number;
            /** @example Europe/Berlin */
            timezone: string | null;
            /** @example Lighthouse Coffee */
            verified_name: string | null;
            /**
             * @description Id of the WhatsApp Business Account.
             * @example 102290129340398
             */
            waba_id: string;
            /**
             * Format: uuid
             * @example 01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f
             */
            workspace_id: string;
        };
        OperatorEventDataResponse: {
            /**
             * @description What was set, as in the audit trail; never a secret.
             * @example {
             *       "phone_number_id": "106540352242922",
             *       "status": "connected"
             *     }
             */
            changes: {
                [key: string]: unknown;
            } | null;
            /**
             * @description Id of the workspace, number, key or setup link.
             * @example 01936f6d-0a1b-7f00-8c11-5a6b7c8d9e0f
             */
            id: string | null;
            /**
             * @description The operator key that made the change; null: a command, a key of the workspace, the platform, or Herald itself.
             * @example Zq3vTn8RkW1b
             */
            operator_key_id: string | null;
        };
        OperatorEventResponse: {
            /**
             * Format: date-time
             * @example 2026-11-21T08:00:00.125Z
             */
            created_at: string;
            /**
             * @description Pass it as `after` to go on behind this event.
             * @example AXvmc3xJ7SoqAAAAAAAAC7gBmqW9oL19AIAAAAAAAAEm
             */
            cursor: string;
            data: components["schemas"]["OperatorEventDataResponse"];
            /**
             * @description Your own id of the workspace, as it is now; null: it has none, or was deleted.
             * @example customer-4711
             */
            external_id: string | null;
            /**
             * @description Id of the change in the audit trail.
             * @example 4711
             */
            id: string;
            /**
             * @example connection.added
             * @enum {string}
             */
            type: "workspace.created" | "workspace.changed" | "workspace.deletion_started" | "workspace.deleted" | "connection.added" | "connection.changed" | "connection.removed" | "setup.completed" | "key.created" | "key.changed" | "key.ending" | "key.revoked";
            /**
             * Format: uuid
             * @example 01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f
             */
            workspace_id: string | null;
        };
        OperatorEventsResponse: {
            data: components["schemas"]["OperatorEventResponse"][];
            /**
             * @description True: nothing more was there. False: ask again, at once after a page with events, else after a moment, or with `wait`.
             * @example true
             */
            done: boolean;
            /**
             * @description Pass it as `after` the next time, also where `data` is empty. Keep it only once you have stored the events.
             * @example AXvmc3xJ7SoqAAAAAAAAC7gBmqW9oL19AIAAAAAAAAEm
             */
            next: string;
        };
        OperatorKeyListResponse: {
            data: components["schemas"]["ListedOperatorKeyResponse"][];
            pagination: components["schemas"]["PaginationResponse"];
        };
        OperatorKeyResponse: {
            /**
             * Format: date-time
             * @description When the key or the session ends; null: never.
             * @example null
             */
            expires_at: string | null;
            /**
             * @description The public part of the key's text, or the person's id.
             * @example Zq3vTn8RkW1b
             */
            id: string;
            /** @example onboarding */
            name: string;
            /**
             * @example [
             *       "workspaces:read",
             *       "keys:write"
             *     ]
             */
            scopes: ("workspaces:read" | "workspaces:write" | "keys:read" | "keys:write" | "operator-keys:read" | "operator-keys:write" | "connections:read" | "connections:write" | "people:read" | "people:write" | "erasures:write" | "otp:read" | "otp:write" | "billing:read" | "billing:write" | "usage:read" | "audit:read" | "events:read" | "installation:read")[];
            /**
             * @description Of Herald.
             * @example 0.2.0
             */
            version: string;
            /**
             * @description The only workspaces that exist for it; null: all.
             * @example null
             */
            workspace_ids: string[] | null;
        };
        OtpAllowanceResponse: {
            /** @example DE */
            country: string;
            /** @example 10000 */
            monthly_limit: number;
        };
        OtpMonthResponse: {
            /** @example DE */
            country: string;
            /** @example 2026-11 */
            month: string;
            /** @example 10000 */
            monthly_limit: number;
            /**
             * @description Accepted and not sent yet.
             * @example 2
             */
            reserved: number;
            /** @example 4711 */
            used: number;
        };
        OtpPackagesData: {
            allowances: components["schemas"]["OtpAllowanceResponse"][];
            /** @description Newest month first. */
            months: components["schemas"]["OtpMonthResponse"][];
        };
        OtpPackagesResponse: {
            data: components["schemas"]["OtpPackagesData"];
        };
        OtpProjectListResponse: {
            data: components["schemas"]["OtpProjectResponse"][];
        };
        OtpProjectResponse: {
            /**
             * @description Null: any country.
             * @example [
             *       "DE",
             *       "US"
             *     ]
             */
            allowed_countries: string[] | null;
            /**
             * Format: date-time
             * @example 2026-11-21T08:00:00.125Z
             */
            created_at: string;
            /**
             * Format: uuid
             * @example 01936f70-0a1b-7c2d-8e3f-4a5b6c7d8ea0
             */
            id: string;
            /**
             * @example live
             * @enum {string}
             */
            mode: "sandbox" | "live";
            /** @example Login */
            name: string;
            /** @example en_US */
            template_language: string;
            /**
             * Format: uuid
             * @example 01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f
             */
            workspace_id: string;
        };
        OtpSenderData: {
            /**
             * @description In which the template is approved; null where only the stored sender was read.
             * @example [
             *       "en_US"
             *     ]
             */
            languages: string[] | null;
            /** @example 15550100009 */
            phone_number: string | null;
            /** @example 106540352242922 */
            phone_number_id: string;
            /**
             * @description `disconnected`: the platform refuses its token; set it again.
             * @example connected
             * @enum {string}
             */
            status: "connected" | "disconnected";
            /** @example login_code */
            template: string;
            /** @example 80 */
            throughput_per_second: number;
        };
        OtpSenderResponse: {
            data: components["schemas"]["OtpSenderData"];
        };
        PaginationResponse: {
            /**
             * Format: date-time
             * @description Pass it as `before` for the next page; null on the last one.
             * @example 2026-11-21T08:00:00.125Z
             */
            next_before: string | null;
            /**
             * @description Pass it as `before_id` together with `before`.
             * @example 01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f
             */
            next_before_id: string | null;
        };
        PersonDetailResponse: {
            /**
             * Format: date-time
             * @example 2026-11-21T08:00:00.125Z
             */
            created_at: string;
            /**
             * @description As of the last sign-in.
             * @example robin@example.com
             */
            email: string;
            /**
             * Format: uuid
             * @example 01936f75-3e4f-7d50-8162-7c8d9e0f1a2b
             */
            id: string;
            /**
             * @description Of all workspaces, by a group of the issuer.
             * @example false
             */
            is_operator: boolean;
            /**
             * @description Address of the issuer at which the person signs in.
             * @example https://login.example.com
             */
            issuer: string;
            /**
             * Format: date-time
             * @example 2026-11-21T08:00:00.125Z
             */
            last_signed_in_at: string;
            /** @example Robin Wells */
            name: string;
            /** @description At most 50, newest first; those that ended stay for up to a minute. */
            sessions: components["schemas"]["SessionOfPersonResponse"][];
            /** @description At most 200, by name; an operator has all others too. */
            workspaces: components["schemas"]["WorkspaceOfPersonResponse"][];
        };
        PersonListResponse: {
            data: components["schemas"]["PersonResponse"][];
            pagination: components["schemas"]["PaginationResponse"];
        };
        PersonResponse: {
            /**
             * Format: date-time
             * @example 2026-11-21T08:00:00.125Z
             */
            created_at: string;
            /**
             * @description As of the last sign-in.
             * @example robin@example.com
             */
            email: string;
            /**
             * Format: uuid
             * @example 01936f75-3e4f-7d50-8162-7c8d9e0f1a2b
             */
            id: string;
            /**
             * @description Of all workspaces, by a group of the issuer.
             * @example false
             */
            is_operator: boolean;
            /**
             * @description Address of the issuer at which the person signs in.
             * @example https://login.example.com
             */
            issuer: string;
            /**
             * Format: date-time
             * @example 2026-11-21T08:00:00.125Z
             */
            last_signed_in_at: string;
            /** @example Robin Wells */
            name: string;
        };
        QueueResponse: {
            /** @example 3 */
            in_flight: number;
            /**
             * @description How long the oldest that is due has waited.
             * @example 140
             */
            oldest_due_ms: number;
            /**
             * @example messages
             * @example messages
             * @example webhooks
             * @example codes
             * @example files
             * @example notifications
             */
            queue: string;
            /**
             * @description Due or not.
             * @example 12
             */
            waiting: number;
        };
        RateResponse: {
            /** @example marketing */
            category: string;
            /**
             * @description ISO 3166 alpha-2; `*`: all that no other price names.
             * @example [
             *       "DE"
             *     ]
             */
            countries: string[];
            /** @example EUR */
            currency: string;
            /** @example 0.1131 */
            price: string;
            /**
             * @description From this message of a month on, counted from 1.
             * @example 1
             */
            tier_from: number;
            /**
             * @description The first day of a month.
             * @example 2026-10-01
             */
            valid_from: string;
        };
        RatesResponse: {
            data: components["schemas"]["RateResponse"][];
        };
        ReadinessPartResponse: {
            /**
             * @description One sentence or figure.
             * @example null
             */
            detail: string | null;
            /** @example database */
            name: string;
            /** @example true */
            ok: boolean;
        };
        ReplacedRatesData: {
            /**
             * @description How many prices there are now.
             * @example 1
             */
            prices: number;
            /** @description Since the month before. */
            unpriced: components["schemas"]["UnpricedResponse"][];
        };
        ReplacedRatesResponse: {
            data: components["schemas"]["ReplacedRatesData"];
        };
        ReplaceRatesRequest: {
            /**
             * @description All prices, as the file of `herald rates set` has them: comma-separated, one price a line, with a header.
             * @example countries,category,tier_from,price,currency,valid_from
             *     DE,marketing,1,0.1131,EUR,2026-10-01
             */
            csv: string;
        };
        RequestedHistoryResponse: {
            /**
             * @description It comes in notifications of the platform, within minutes.
             * @example true
             * @enum {boolean}
             */
            requested: true;
        };
        RotateKeyRequest: {
            /** @description Seconds for which both keys work; 0 ends the old one at once. Default: 86400. */
            overlap_seconds?: number;
        };
        SessionOfPersonResponse: {
            /**
             * Format: date-time
             * @example 2026-11-21T08:00:00.125Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it ends at the latest.
             * @example 2026-11-21T08:00:00.125Z
             */
            expires_at: string;
            /**
             * Format: date-time
             * @description The last use, or up to a minute before it.
             * @example 2026-11-21T08:00:00.125Z
             */
            last_seen_at: string;
        };
        SetKeywordsRequest: {
            /**
             * @description A customer who writes only one of these wants them again.
             * @example [
             *       "start"
             *     ]
             */
            in: string[];
            /**
             * @description A customer who writes only one of these wants no messages.
             * @example [
             *       "stopp",
             *       "keine werbung"
             *     ]
             */
            out: string[];
        };
        SetOtpPackageRequest: {
            /**
             * @description Codes in each calendar month (UTC), from the present one on; 0 ends the package.
             * @example 10000
             */
            monthly_limit: number;
        };
        SetOtpSenderRequest: {
            /**
             * @description The platform's id of the number. It is no number of a workspace.
             * @example 106540352242922
             */
            phone_number_id: string;
            /**
             * @description An approved template of the category AUTHENTICATION.
             * @example login_code
             */
            template: string;
            /** @description Messages a second; left out: as the platform says. */
            throughput_per_second?: number;
            /**
             * @description Access token of a system user; it is stored encrypted, and shown nowhere.
             * @example <token of a system user>
             */
            token: string;
            /**
             * @description Id of its WhatsApp Business Account.
             * @example 102290129340398
             */
            waba_id: string;
        };
        SetupLinkListResponse: {
            data: components["schemas"]["SetupLinkResponse"][];
            pagination: components["schemas"]["PaginationResponse"];
        };
        SetupLinkResponse: {
            /**
             * Format: date-time
             * @example null
             */
            completed_at: string | null;
            /**
             * Format: uuid
             * @description The number that was connected with it; null: none yet.
             * @example 01936f6d-0a1b-7f00-8c11-5a6b7c8d9e0f
             */
            connection_id: string | null;
            /**
             * Format: date-time
             * @example 2026-11-21T08:00:00.125Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @example 2026-11-28T08:00:00.125Z
             */
            expires_at: string;
            /**
             * Format: uuid
             * @example 01936f74-2d3e-7c4f-9051-6b7c8d9e0f1a
             */
            id: string;
            /** @example en_US */
            locale: string;
            /**
             * Format: date-time
             * @description When its page was opened first; null: not yet.
             * @example null
             */
            opened_at: string | null;
            /** @example null */
            return_url: string | null;
            /**
             * Format: date-time
             * @example null
             */
            revoked_at: string | null;
            /**
             * @example manual
             * @enum {string}
             */
            signup: "cloud" | "app" | "manual";
            /**
             * @description `completed`: a number was connected with it, and the link has ended.
             * @example open
             * @enum {string}
             */
            status: "open" | "completed" | "revoked" | "expired";
            /** @description In their order, with what failed and who can mend it. */
            steps: components["schemas"]["SetupStepResponse"][];
            /**
             * Format: uuid
             * @example 01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f
             */
            workspace_id: string;
        };
        SetupProblemResponse: {
            /**
             * @description The kind of failure, for programs; there may be more kinds later.
             * @example pin_wrong
             */
            code: string;
            /**
             * @description Who can mend it: who opened the link, who runs the service, or time alone.
             * @example business
             * @enum {string}
             */
            mended_by: "business" | "operator" | "time";
            /**
             * @description What is wrong and what to do, in one or two sentences.
             * @example The number has another PIN. Type the PIN of its two-step verification.
             */
            message: string;
            /**
             * @description The words of the platform; null where it said nothing.
             * @example null
             */
            platform_message: string | null;
        };
        SetupStepResponse: {
            /**
             * Format: date-time
             * @description When it was tried last; null: not yet.
             * @example null
             */
            at: string | null;
            /**
             * @example access
             * @enum {string}
             */
            name: "access" | "subscribe" | "register" | "connect" | "history" | "test";
            /**
             * @description Why it failed; null where it did not.
             * @example null
             */
            problem: components["schemas"]["SetupProblemResponse"] | null;
            /**
             * @description `open`: not tried yet, or to be done again.
             * @example open
             * @enum {string}
             */
            state: "open" | "done" | "failed";
        };
        SingleApiKeyResponse: {
            data: components["schemas"]["ApiKeyResponse"];
        };
        SingleErasureResponse: {
            data: components["schemas"]["ErasureResponse"];
        };
        SingleImportedHistoryResponse: {
            data: components["schemas"]["ImportedHistoryResponse"];
        };
        SingleInstallationResponse: {
            data: components["schemas"]["InstallationResponse"];
        };
        SingleInvitationResponse: {
            data: components["schemas"]["InvitationResponse"];
        };
        SingleIssuedKeyResponse: {
            data: components["schemas"]["IssuedKeyResponse"];
        };
        SingleIssuedOperatorKeyResponse: {
            data: components["schemas"]["IssuedOperatorKeyResponse"];
        };
        SingleIssuedSetupLinkResponse: {
            data: components["schemas"]["IssuedSetupLinkResponse"];
        };
        SingleListedOperatorKeyResponse: {
            data: components["schemas"]["ListedOperatorKeyResponse"];
        };
        SingleMemberResponse: {
            data: components["schemas"]["MemberResponse"];
        };
        SingleOperatedConnectionResponse: {
            data: components["schemas"]["OperatedConnectionResponse"];
        };
        SingleOperatorKeyResponse: {
            data: components["schemas"]["OperatorKeyResponse"];
        };
        SingleOtpProjectResponse: {
            data: components["schemas"]["OtpProjectResponse"];
        };
        SinglePersonResponse: {
            data: components["schemas"]["PersonDetailResponse"];
        };
        SingleRequestedHistoryResponse: {
            data: components["schemas"]["RequestedHistoryResponse"];
        };
        SingleSetupLinkResponse: {
            data: components["schemas"]["SetupLinkResponse"];
        };
        SingleWorkspaceResponse: {
            data: components["schemas"]["WorkspaceResponse"];
        };
        UnpricedResponse: {
            /** @example utility */
            category: string;
            /**
             * @example [
             *       "FR"
             *     ]
             */
            countries: string[];
            /** @example 42 */
            messages: number;
        };
        WorkspaceListResponse: {
            data: components["schemas"]["WorkspaceResponse"][];
            pagination: components["schemas"]["PaginationResponse"];
        };
        WorkspaceOfPersonResponse: {
            /**
             * Format: uuid
             * @example 01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f
             */
            id: string;
            /** @example Example Ltd */
            name: string;
            /**
             * @example agent
             * @enum {string}
             */
            role: "viewer" | "agent" | "developer" | "admin" | "operator";
        };
        WorkspaceResponse: {
            /**
             * Format: date-time
             * @description Until when it has paid for sending.
             * @example 2026-11-21T08:00:00.125Z
             */
            api_paid_until: string | null;
            /**
             * Format: date-time
             * @example 2026-11-21T08:00:00.125Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @example null
             */
            deletion_requested_at: string | null;
            effective: components["schemas"]["EffectiveLimitsResponse"];
            /**
             * @description Your own id of the customer.
             * @example customer-4711
             */
            external_id: string | null;
            /**
             * Format: uuid
             * @example 01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f
             */
            id: string;
            /** @example 2 */
            marketing_per_recipient_per_week: number | null;
            /**
             * @description Null, here and below: any number.
             * @example 10000
             */
            messages_per_day: number | null;
            /** @example Lighthouse Coffee */
            name: string;
            /** @example null */
            rate_burst: number | null;
            /**
             * @description Null, here and below: the default of the service.
             * @example null
             */
            rate_per_second: number | null;
            /** @example 250.00 */
            spend_per_month: string | null;
            /**
             * @description `deleting`: its keys and numbers end, its data goes; once that is over it does not exist.
             * @example active
             * @enum {string}
             */
            state: "active" | "deleting";
            /** @example null */
            storage_limit_bytes: number | null;
            /** @example 1048576 */
            storage_used_bytes: number;
            /** @example Europe/Berlin */
            time_zone: string;
        };
        WorkspaceUsageLine: {
            /**
             * @description Accepted by WhatsApp, or further.
             * @example 1190
             */
            accepted: number;
            /**
             * @description Messages that WhatsApp reported as billable, by category.
             * @example {
             *       "marketing": 110
             *     }
             */
            billable: {
                [key: string]: number;
            };
            /**
             * @description Empty: not known.
             * @example marketing
             */
            category: string;
            /**
             * @description The number, or the id of one that is gone.
             * @example 15550100001
             */
            connection: string;
            /** @description Estimated; null: the operator has set no price for some of the messages. */
            cost: components["schemas"]["CostResponse"] | null;
            /** @description The same of those with a price; null: there are no prices. */
            cost_of_priced: components["schemas"]["CostResponse"] | null;
            /**
             * @description ISO 3166 alpha-2; empty: not known.
             * @example DE
             */
            country: string;
            /**
             * @description Delivered or read.
             * @example 1151
             */
            delivered: number;
            /** @description Milliseconds from accepted to delivered; null: nothing was delivered. */
            delivery_ms: components["schemas"]["DeliveryTimesResponse"] | null;
            /**
             * @description Failed; some of them after they were accepted or sent.
             * @example 9
             */
            failed: number;
            /**
             * @description Failed messages by `failure_category`.
             * @example {
             *       "recipient_unreachable": 9
             *     }
             */
            failures: {
                [key: string]: number;
            };
            /**
             * @description Messages that WhatsApp reported as free, by type.
             * @example {
             *       "free_customer_service": 1041
             *     }
             */
            free: {
                [key: string]: number;
            };
            /** @example 0 */
            outcome_unknown: number;
            /** @example 804 */
            read: number;
            /**
             * @description Written by customers.
             * @example 310
             */
            received: number;
            /**
             * @description Sent, delivered or read.
             * @example 1188
             */
            sent: number;
            /**
             * @description What POST /messages took.
             * @example 1200
             */
            submitted: number;
            /**
             * @description Billable messages without a price, by category.
             * @example {}
             */
            unpriced: {
                [key: string]: number;
            };
            /**
             * @description Its name.
             * @example Lighthouse Coffee
             */
            workspace: string;
            /**
             * Format: uuid
             * @example 01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f
             */
            workspace_id: string;
        };
        WorkspaceUsageResponse: {
            data: components["schemas"]["WorkspaceUsageLine"][];
            pagination: components["schemas"]["PaginationResponse"];
        };
    };
    responses: {
        /**
         * @description - [`IDEMPOTENCY_KEY_INVALID`](/docs/errors#IDEMPOTENCY_KEY_INVALID): The header Idempotency-Key is not of the form that the endpoint takes.
         *     - [`INVALID_REQUEST`](/docs/errors#INVALID_REQUEST): The JSON is malformed, or a path parameter, query parameter or body field breaks its rule.
         */
        Refused400_IDEMPOTENCY_KEY_INVALID_INVALID_REQUEST: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /** @description - [`INVALID_REQUEST`](/docs/errors#INVALID_REQUEST): The JSON is malformed, or a path parameter, query parameter or body field breaks its rule. */
        Refused400_INVALID_REQUEST: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /**
         * @description - [`API_KEY_EXPIRED`](/docs/errors#API_KEY_EXPIRED): The key's lifetime is over.
         *     - [`API_KEY_INVALID`](/docs/errors#API_KEY_INVALID): The key is mistyped, cut short, or was never issued.
         *     - [`API_KEY_MISSING`](/docs/errors#API_KEY_MISSING): The request has no `Authorization: Bearer` header, or more than one.
         *     - [`API_KEY_REVOKED`](/docs/errors#API_KEY_REVOKED): The key was revoked.
         *     - [`OPERATOR_KEY_REQUIRED`](/docs/errors#OPERATOR_KEY_REQUIRED): A route below /api/admin was called with a key of a workspace.
         */
        Refused401: {
            headers: {
                "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /**
         * @description - [`KEY_BEYOND_ROLE`](/docs/errors#KEY_BEYOND_ROLE): A person makes, changes or rotates a key with scopes that the role of the person does not have.
         *     - [`SCOPE_REQUIRED`](/docs/errors#SCOPE_REQUIRED): The key is valid, but lacks the scope of this route; or the role of the person does.
         */
        Refused403_KEY_BEYOND_ROLE_SCOPE_REQUIRED: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /**
         * @description - [`OPERATOR_KEY_BEYOND`](/docs/errors#OPERATOR_KEY_BEYOND): An operator key makes, rotates or revokes one with scopes that it lacks, or makes one that ends later than itself.
         *     - [`SCOPE_REQUIRED`](/docs/errors#SCOPE_REQUIRED): The key is valid, but lacks the scope of this route; or the role of the person does.
         */
        Refused403_OPERATOR_KEY_BEYOND_SCOPE_REQUIRED: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /**
         * @description - [`OPERATOR_KEY_LIMITED`](/docs/errors#OPERATOR_KEY_LIMITED): The operator key is limited to some workspaces, and the route concerns the whole installation.
         *     - [`SCOPE_REQUIRED`](/docs/errors#SCOPE_REQUIRED): The key is valid, but lacks the scope of this route; or the role of the person does.
         */
        Refused403_OPERATOR_KEY_LIMITED_SCOPE_REQUIRED: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /**
         * @description - [`OPERATOR_KEY_BEYOND`](/docs/errors#OPERATOR_KEY_BEYOND): An operator key makes, rotates or revokes one with scopes that it lacks, or makes one that ends later than itself.
         *     - [`OPERATOR_KEY_LIMITED`](/docs/errors#OPERATOR_KEY_LIMITED): The operator key is limited to some workspaces, and the route concerns the whole installation.
         *     - [`SCOPE_REQUIRED`](/docs/errors#SCOPE_REQUIRED): The key is valid, but lacks the scope of this route; or the role of the person does.
         */
        Refused403_operatorKeysAdmin_create: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /** @description - [`SCOPE_REQUIRED`](/docs/errors#SCOPE_REQUIRED): The key is valid, but lacks the scope of this route; or the role of the person does. */
        Refused403_SCOPE_REQUIRED: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /**
         * @description - [`SCOPE_REQUIRED`](/docs/errors#SCOPE_REQUIRED): The key is valid, but lacks the scope of this route; or the role of the person does.
         *     - [`WORKSPACE_EXTERNAL_ID_FIXED`](/docs/errors#WORKSPACE_EXTERNAL_ID_FIXED): An operator key that is limited to some workspaces changes an `external_id`.
         */
        Refused403_SCOPE_REQUIRED_WORKSPACE_EXTERNAL_ID_FIXED: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /**
         * @description - [`CONNECTION_NOT_FOUND`](/docs/errors#CONNECTION_NOT_FOUND): The connection id names no number of this key's workspace.
         *     - [`WORKSPACE_NOT_FOUND`](/docs/errors#WORKSPACE_NOT_FOUND): The workspace does not exist, was deleted, or is none of those to which the operator key is limited.
         */
        Refused404_CONNECTION_NOT_FOUND_WORKSPACE_NOT_FOUND: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /**
         * @description - [`INVITATION_NOT_FOUND`](/docs/errors#INVITATION_NOT_FOUND): The id names no invitation of this workspace.
         *     - [`WORKSPACE_NOT_FOUND`](/docs/errors#WORKSPACE_NOT_FOUND): The workspace does not exist, was deleted, or is none of those to which the operator key is limited.
         */
        Refused404_INVITATION_NOT_FOUND_WORKSPACE_NOT_FOUND: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /**
         * @description - [`KEY_NOT_FOUND`](/docs/errors#KEY_NOT_FOUND): The id is none of an API key of the workspace.
         *     - [`WORKSPACE_NOT_FOUND`](/docs/errors#WORKSPACE_NOT_FOUND): The workspace does not exist, was deleted, or is none of those to which the operator key is limited.
         */
        Refused404_KEY_NOT_FOUND_WORKSPACE_NOT_FOUND: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /** @description - [`OPERATOR_KEY_NOT_FOUND`](/docs/errors#OPERATOR_KEY_NOT_FOUND): The id is none of an operator key, or of one that is not limited to workspaces of the calling key. */
        Refused404_OPERATOR_KEY_NOT_FOUND: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /**
         * @description - [`OTP_PROJECT_NOT_FOUND`](/docs/errors#OTP_PROJECT_NOT_FOUND): The id is none of an OTP project of the workspace.
         *     - [`WORKSPACE_NOT_FOUND`](/docs/errors#WORKSPACE_NOT_FOUND): The workspace does not exist, was deleted, or is none of those to which the operator key is limited.
         */
        Refused404_OTP_PROJECT_NOT_FOUND_WORKSPACE_NOT_FOUND: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /** @description - [`OTP_SENDER_NOT_SET`](/docs/errors#OTP_SENDER_NOT_SET): The service has no number of its own that sends the codes. */
        Refused404_OTP_SENDER_NOT_SET: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /** @description - [`PERSON_NOT_FOUND`](/docs/errors#PERSON_NOT_FOUND): The id names no person, or none who is a member of this workspace. */
        Refused404_PERSON_NOT_FOUND: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /**
         * @description - [`PERSON_NOT_FOUND`](/docs/errors#PERSON_NOT_FOUND): The id names no person, or none who is a member of this workspace.
         *     - [`WORKSPACE_NOT_FOUND`](/docs/errors#WORKSPACE_NOT_FOUND): The workspace does not exist, was deleted, or is none of those to which the operator key is limited.
         */
        Refused404_PERSON_NOT_FOUND_WORKSPACE_NOT_FOUND: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /**
         * @description - [`SETUP_LINK_NOT_FOUND`](/docs/errors#SETUP_LINK_NOT_FOUND): The id names no setup link of this workspace.
         *     - [`WORKSPACE_NOT_FOUND`](/docs/errors#WORKSPACE_NOT_FOUND): The workspace does not exist, was deleted, or is none of those to which the operator key is limited.
         */
        Refused404_SETUP_LINK_NOT_FOUND_WORKSPACE_NOT_FOUND: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /** @description - [`WORKSPACE_NOT_FOUND`](/docs/errors#WORKSPACE_NOT_FOUND): The workspace does not exist, was deleted, or is none of those to which the operator key is limited. */
        Refused404_WORKSPACE_NOT_FOUND: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /**
         * @description - [`IDEMPOTENCY_KEY_REUSED`](/docs/errors#IDEMPOTENCY_KEY_REUSED): The key was used before with other parameters.
         *     - [`NUMBER_TAKEN`](/docs/errors#NUMBER_TAKEN): The token is one for the number, and another workspace of this installation has it, connected or not.
         *     - [`WORKSPACE_DELETING`](/docs/errors#WORKSPACE_DELETING): The deletion of the workspace was requested, and it is not over.
         */
        Refused409_connectionsAdmin_add: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /**
         * @description - [`CONNECTION_NOT_READY`](/docs/errors#CONNECTION_NOT_READY): The number is not connected to the platform.
         *     - [`IDEMPOTENCY_KEY_REUSED`](/docs/errors#IDEMPOTENCY_KEY_REUSED): The key was used before with other parameters.
         *     - [`WORKSPACE_DELETING`](/docs/errors#WORKSPACE_DELETING): The deletion of the workspace was requested, and it is not over.
         */
        Refused409_connectionsAdmin_check: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /** @description - [`IDEMPOTENCY_KEY_REUSED`](/docs/errors#IDEMPOTENCY_KEY_REUSED): The key was used before with other parameters. */
        Refused409_IDEMPOTENCY_KEY_REUSED: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /**
         * @description - [`IDEMPOTENCY_KEY_REUSED`](/docs/errors#IDEMPOTENCY_KEY_REUSED): The key was used before with other parameters.
         *     - [`OPERATOR_KEY_ENDED`](/docs/errors#OPERATOR_KEY_ENDED): A revoked operator key was to be rotated.
         */
        Refused409_IDEMPOTENCY_KEY_REUSED_OPERATOR_KEY_ENDED: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /**
         * @description - [`IDEMPOTENCY_KEY_REUSED`](/docs/errors#IDEMPOTENCY_KEY_REUSED): The key was used before with other parameters.
         *     - [`WORKSPACE_DELETING`](/docs/errors#WORKSPACE_DELETING): The deletion of the workspace was requested, and it is not over.
         */
        Refused409_IDEMPOTENCY_KEY_REUSED_WORKSPACE_DELETING: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /**
         * @description - [`IDEMPOTENCY_KEY_REUSED`](/docs/errors#IDEMPOTENCY_KEY_REUSED): The key was used before with other parameters.
         *     - [`WORKSPACE_EXTERNAL_ID_TAKEN`](/docs/errors#WORKSPACE_EXTERNAL_ID_TAKEN): The `external_id` is that of another workspace.
         */
        Refused409_IDEMPOTENCY_KEY_REUSED_WORKSPACE_EXTERNAL_ID_TAKEN: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /**
         * @description - [`INVITATION_USED`](/docs/errors#INVITATION_USED): The person has signed in and is a member, so the invitation has ended.
         *     - [`WORKSPACE_DELETING`](/docs/errors#WORKSPACE_DELETING): The deletion of the workspace was requested, and it is not over.
         */
        Refused409_INVITATION_USED_WORKSPACE_DELETING: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /**
         * @description - [`KEY_ENDED`](/docs/errors#KEY_ENDED): A revoked API key was to be changed or rotated.
         *     - [`WORKSPACE_DELETING`](/docs/errors#WORKSPACE_DELETING): The deletion of the workspace was requested, and it is not over.
         */
        Refused409_KEY_ENDED_WORKSPACE_DELETING: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /**
         * @description - [`IDEMPOTENCY_KEY_REUSED`](/docs/errors#IDEMPOTENCY_KEY_REUSED): The key was used before with other parameters.
         *     - [`KEY_ENDED`](/docs/errors#KEY_ENDED): A revoked API key was to be changed or rotated.
         *     - [`WORKSPACE_DELETING`](/docs/errors#WORKSPACE_DELETING): The deletion of the workspace was requested, and it is not over.
         */
        Refused409_keysAdmin_rotate: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /**
         * @description - [`OTP_PACKAGE_NOT_POSSIBLE`](/docs/errors#OTP_PACKAGE_NOT_POSSIBLE): A package was set for a sandbox, which sends nothing, or for a country to which the project sends no codes.
         *     - [`WORKSPACE_DELETING`](/docs/errors#WORKSPACE_DELETING): The deletion of the workspace was requested, and it is not over.
         */
        Refused409_OTP_PACKAGE_NOT_POSSIBLE_WORKSPACE_DELETING: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /** @description - [`RATES_IN_USE`](/docs/errors#RATES_IN_USE): The prices are in another currency than those before, and a workspace has a limit of spending. */
        Refused409_RATES_IN_USE: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /**
         * @description - [`ROLE_BY_GROUP`](/docs/errors#ROLE_BY_GROUP): A role that a group gives is to be removed, or a weaker one set in its place.
         *     - [`WORKSPACE_DELETING`](/docs/errors#WORKSPACE_DELETING): The deletion of the workspace was requested, and it is not over.
         */
        Refused409_ROLE_BY_GROUP_WORKSPACE_DELETING: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /**
         * @description - [`SETUP_LINK_USED`](/docs/errors#SETUP_LINK_USED): A number was connected with the link, which so has ended.
         *     - [`WORKSPACE_DELETING`](/docs/errors#WORKSPACE_DELETING): The deletion of the workspace was requested, and it is not over.
         */
        Refused409_SETUP_LINK_USED_WORKSPACE_DELETING: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /** @description - [`WORKSPACE_DELETING`](/docs/errors#WORKSPACE_DELETING): The deletion of the workspace was requested, and it is not over. */
        Refused409_WORKSPACE_DELETING: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /**
         * @description - [`SPEND_LIMIT_NEEDS_PRICES`](/docs/errors#SPEND_LIMIT_NEEDS_PRICES): A limit of spending was set where no prices are.
         *     - [`WORKSPACE_DELETING`](/docs/errors#WORKSPACE_DELETING): The deletion of the workspace was requested, and it is not over.
         *     - [`WORKSPACE_EXTERNAL_ID_TAKEN`](/docs/errors#WORKSPACE_EXTERNAL_ID_TAKEN): The `external_id` is that of another workspace.
         */
        Refused409_workspacesAdmin_change: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /** @description - [`EVENT_CURSOR_EXPIRED`](/docs/errors#EVENT_CURSOR_EXPIRED): What follows the cursor `after` may be incomplete; `reason` says why: `retention`: it is older than events are kept, 30 days unless the installation says otherwise; `not_recorded`: the workspace had no webhook and did not read for so long, and events were not recorded meanwhile; `database_changed`: it was made on another database, before a restore or a failover that may have lost what it is about. */
        Refused410_EVENT_CURSOR_EXPIRED: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /** @description - [`PAYLOAD_TOO_LARGE`](/docs/errors#PAYLOAD_TOO_LARGE): The request body is over the limit of the route. */
        Refused413_PAYLOAD_TOO_LARGE: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /** @description - [`UNSUPPORTED_CONTENT_TYPE`](/docs/errors#UNSUPPORTED_CONTENT_TYPE): The Content-Type, charset or encoding is not the one that the route expects. */
        Refused415_UNSUPPORTED_CONTENT_TYPE: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /** @description - [`HISTORY_REFUSED`](/docs/errors#HISTORY_REFUSED): WhatsApp was asked for the history of the WhatsApp Business app, and refused or did not answer (502). */
        Refused422_HISTORY_REFUSED: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /**
         * @description - [`KEY_PROJECT_NOT_FOUND`](/docs/errors#KEY_PROJECT_NOT_FOUND): `otp_project_id` is none of an OTP project of the workspace.
         *     - [`KEY_SCOPES_MIXED`](/docs/errors#KEY_SCOPES_MIXED): A key of a workspace was to have scopes of one-time codes, or one of an OTP project others.
         */
        Refused422_KEY_PROJECT_NOT_FOUND_KEY_SCOPES_MIXED: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /** @description - [`KEY_SCOPES_MIXED`](/docs/errors#KEY_SCOPES_MIXED): A key of a workspace was to have scopes of one-time codes, or one of an OTP project others. */
        Refused422_KEY_SCOPES_MIXED: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /** @description - [`KEY_WORKSPACE_NOT_FOUND`](/docs/errors#KEY_WORKSPACE_NOT_FOUND): One of `workspace_ids` is none of a workspace, or of none of those to which the calling operator key is limited. */
        Refused422_KEY_WORKSPACE_NOT_FOUND: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /** @description - [`NUMBER_REFUSED`](/docs/errors#NUMBER_REFUSED): The number cannot be connected: the platform refuses the token, does not know the number or the account, or does not answer (502). */
        Refused422_NUMBER_REFUSED: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /**
         * @description - [`NUMBER_REFUSED`](/docs/errors#NUMBER_REFUSED): The number cannot be connected: the platform refuses the token, does not know the number or the account, or does not answer (502).
         *     - [`OTP_SENDER_REFUSED`](/docs/errors#OTP_SENDER_REFUSED): The number is one of a workspace, or its template is missing, not approved, or not of the category AUTHENTICATION.
         */
        Refused422_NUMBER_REFUSED_OTP_SENDER_REFUSED: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /** @description - [`OPT_OUT_KEYWORDS_INVALID`](/docs/errors#OPT_OUT_KEYWORDS_INVALID): Words by which customers opt out or in cannot be set: the language is none, a word is empty or too long, or means both. */
        Refused422_OPT_OUT_KEYWORDS_INVALID: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /** @description - [`RATES_INVALID`](/docs/errors#RATES_INVALID): The prices are not of the form that is expected; `message` names the line and the column. */
        Refused422_RATES_INVALID: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /**
         * @description - [`SETUP_RETURN_URL_REFUSED`](/docs/errors#SETUP_RETURN_URL_REFUSED): The origin of `return_url` is not one that the operator allowed.
         *     - [`SETUP_SIGNUP_OFF`](/docs/errors#SETUP_SIGNUP_OFF): The link is to use the dialog of Meta, and embedded signup is not set up.
         */
        Refused422_SETUP_RETURN_URL_REFUSED_SETUP_SIGNUP_OFF: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /** @description - [`RATE_LIMITED`](/docs/errors#RATE_LIMITED): The key, or an address that sent no valid key, made more requests than its limit allows. With `scope`: `workspace_reads`: too many reads of the workspace are under way and wait; `waiting_readers`: too many calls of `GET /events` wait; `large_batches`: batches of the workspace above 256 KiB are under way; `webhook_replay`: a replay was refused as too large within the last ten seconds; `webhook_changes`: the webhook was changed, or its secret replaced, too often within an hour; `webhook_verify`: the receiver was checked too often; `destination_changes`: event destinations were made, changed or replayed too often within an hour; `number_profile`: too many reads and changes of the profile of one number. */
        Refused429_RATE_LIMITED: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Retry-After": components["headers"]["Retry-After"];
                "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /** @description - [`INVALID_REQUEST`](/docs/errors#INVALID_REQUEST): The JSON is malformed, or a path parameter, query parameter or body field breaks its rule. */
        Refused431_INVALID_REQUEST: {
            headers: {
                "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /** @description - [`INTERNAL_ERROR`](/docs/errors#INTERNAL_ERROR): Herald met an internal error. */
        Refused500_INTERNAL_ERROR: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /** @description - [`SERVICE_UNAVAILABLE`](/docs/errors#SERVICE_UNAVAILABLE): The database is out of reach, or too many requests are waiting. */
        Refused503_SERVICE_UNAVAILABLE: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                "Retry-After": components["headers"]["Retry-After"];
                "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: {
        /**
         * @description What is left of it: `r` requests now; all of them again in `t` seconds.
         * @example "default";r=87;t=1
         */
        RateLimit: string;
        /**
         * @description The limit of the key: `q` requests at once, refilled within `w` seconds.
         * @example "default";q=100;w=2
         */
        "RateLimit-Policy": string;
        /**
         * @description Seconds to wait before trying again.
         * @example 1
         */
        "Retry-After": number;
        /** @description How to authenticate. */
        "WWW-Authenticate": "Bearer";
        /** @description The version of the API. */
        "X-HERALD-API-Version": "v1";
        /**
         * @description Of an answer from a standby: it may be late by this many milliseconds at most. Absent: it is not late.
         * @example 740
         */
        "X-Herald-Lag": number;
        /**
         * @description Where reads may be late: a mark of this write. A read with it as the same header finds what was written. After several at once keep the greatest. Absent elsewhere.
         * @example abcdef1200000016b374d848
         */
        "X-Herald-Read-After": string;
        /**
         * @description The caller's X-Request-Id where it matches ^[A-Za-z0-9._-]{1,128}$, else a new one.
         * @example 5b8a4f7e-0c1d-4c43-9b5e-2f6f1b7b8a10
         */
        "X-Request-Id": string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    auditAdmin_list: {
        parameters: {
            query?: {
                /** @description Only this kind of change. */
                action?: "workspace.created" | "workspace.limits_changed" | "workspace.subscription_changed" | "workspace.opt_out_keywords_changed" | "workspace.deletion_started" | "workspace.deleted" | "workspace.changed" | "key.created" | "key.changed" | "key.revoked" | "key.rotated" | "key.ending" | "connection.added" | "connection.changed" | "connection.disconnected" | "setup_link.created" | "setup_link.revoked" | "setup.completed" | "operator_key.created" | "operator_key.revoked" | "operator_key.rotated" | "person.signed_in" | "person.signed_out" | "person.signed_out_everywhere" | "person.groups_changed" | "membership.changed" | "membership.removed" | "invitation.created" | "invitation.accepted" | "invitation.revoked" | "webhook.created" | "webhook.changed" | "webhook.removed" | "webhook.secret_rotated" | "destination.created" | "destination.changed" | "destination.replayed" | "destination.removed" | "otp_project.created" | "otp_sender.set" | "otp_package.set" | "usage_rates.set" | "contact.erasure_started" | "contact.erased" | "secrets.rotation_started" | "database.restored" | "database.confirmed" | "database.continued";
                /** @description Only what this key, operator key, person or account did: its id, or the account's name. */
                actor?: string;
                /** @description Together with `before_id`: the `occurred_at` of the last event of the previous page. */
                before?: string;
                /** @description Together with `before`: the `id` of the last event of the previous page. */
                before_id?: string;
                /** @description `ndjson`: one event a line, as `application/x-ndjson`; up to 10,000 of them at once. */
                format?: "json" | "ndjson";
                /** @description How many at the most: up to 100, with `format=ndjson` up to 10,000. */
                limit?: number;
                /** @description From this time on. */
                since?: string;
                /** @description Before this time. */
                until?: string;
                /** @description Only of this workspace, a deleted one too. */
                workspace_id?: string;
            };
            header?: {
                /** @description Of the answer to your last write: the read finds what was written up to then, also where it may be late. */
                "X-Herald-Read-After"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page, or one event a line with `format=ndjson`. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                    "X-Herald-Lag": components["headers"]["X-Herald-Lag"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "4711",
                     *           "occurred_at": "2026-11-21T08:00:00.125Z",
                     *           "action": "key.created",
                     *           "workspace_id": "01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f",
                     *           "target": "y4zZjPLnlOBt",
                     *           "actor_kind": "operator_key",
                     *           "actor": "Zq3vTn8RkW1b",
                     *           "address": "203.0.113.7",
                     *           "details": {
                     *             "name": "orders-service",
                     *             "scopes": [
                     *               "messages:write"
                     *             ]
                     *           }
                     *         }
                     *       ],
                     *       "pagination": {
                     *         "next_before": "2026-11-21T08:00:00.125Z",
                     *         "next_before_id": "01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["AuditListResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    allConnectionsAdmin_list: {
        parameters: {
            query?: {
                /** @description Only what is older than this time, such as `2026-11-21T08:00:00.000Z`. */
                before?: string;
                /** @description Together with `before`: the last entry of the previous page. */
                before_id?: string;
                /** @description How many at the most. */
                limit?: number;
                /** @description Only the one with this id of the platform. */
                phone_number_id?: string;
                /** @description Only those in this state. */
                status?: "connected" | "pending" | "disconnected" | "restricted";
                /** @description Only of this workspace. */
                workspace_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "01936f6d-0a1b-7f00-8c11-5a6b7c8d9e0f",
                     *           "phone_number": "15550100001",
                     *           "verified_name": "Lighthouse Coffee",
                     *           "status": "connected",
                     *           "status_reason": null,
                     *           "quality_rating": "GREEN",
                     *           "messaging_limit": "TIER_2K",
                     *           "throughput_per_second": 80,
                     *           "service_charged_since": null,
                     *           "marketing_route": "auto",
                     *           "marketing_status": "ONBOARDED",
                     *           "timezone": "Europe/Berlin",
                     *           "created_at": "2026-11-21T08:00:00.000Z",
                     *           "workspace_id": "01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f",
                     *           "phone_number_id": "106540352242922",
                     *           "waba_id": "102290129340398"
                     *         }
                     *       ],
                     *       "pagination": {
                     *         "next_before": "2026-11-21T08:00:00.125Z",
                     *         "next_before_id": "01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["AllConnectionsResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    eventsAdmin_list: {
        parameters: {
            query?: {
                /** @description `next` of the answer before, or the `cursor` of an event. `now`: only what comes from now on. Left out: from the oldest event that is kept. */
                after?: string;
                /** @description How many at the most. */
                limit?: number;
                /** @description Only events of these types, separated by commas, such as `connection.added,setup.completed`; others are passed over. */
                types?: string;
                /** @description Seconds to wait for an event where none is there; 0: answer at once. */
                wait?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page, oldest first. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "4711",
                     *           "type": "connection.added",
                     *           "created_at": "2026-11-21T08:00:00.125Z",
                     *           "workspace_id": "01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f",
                     *           "external_id": "customer-4711",
                     *           "cursor": "AXvmc3xJ7SoqAAAAAAAAC7gBmqW9oL19AIAAAAAAAAEm",
                     *           "data": {
                     *             "id": "01936f6d-0a1b-7f00-8c11-5a6b7c8d9e0f",
                     *             "operator_key_id": "Zq3vTn8RkW1b",
                     *             "changes": {
                     *               "phone_number_id": "106540352242922",
                     *               "status": "connected"
                     *             }
                     *           }
                     *         }
                     *       ],
                     *       "next": "AXvmc3xJ7SoqAAAAAAAAC7gBmqW9oL19AIAAAAAAAAEm",
                     *       "done": true
                     *     }
                     */
                    "application/json": components["schemas"]["OperatorEventsResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            410: components["responses"]["Refused410_EVENT_CURSOR_EXPIRED"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    installationAdmin_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description As it is now. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "version": "0.2.0",
                     *         "ready": true,
                     *         "parts": [
                     *           {
                     *             "name": "database",
                     *             "ok": true,
                     *             "detail": null
                     *           }
                     *         ],
                     *         "workers": 2,
                     *         "held": false,
                     *         "queues": [
                     *           {
                     *             "queue": "messages",
                     *             "waiting": 12,
                     *             "in_flight": 3,
                     *             "oldest_due_ms": 140
                     *           }
                     *         ],
                     *         "outcome_unknown": 0,
                     *         "lanes": [
                     *           {
                     *             "connection_id": "01936f6d-0a1b-7f00-8c11-5a6b7c8d9e0f",
                     *             "workspace_id": "01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f",
                     *             "phone_number": "15550000001",
                     *             "connection_status": "connected",
                     *             "queued": 12,
                     *             "scheduled": 0,
                     *             "due": 12,
                     *             "in_flight": 3,
                     *             "oldest_due_ms": 140,
                     *             "paused_until": null,
                     *             "pause_reason": null,
                     *             "draining": true
                     *           }
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SingleInstallationResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_OPERATOR_KEY_LIMITED_SCOPE_REQUIRED"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    operatorKeyAdmin_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The key, without its secret. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "Zq3vTn8RkW1b",
                     *         "name": "onboarding",
                     *         "scopes": [
                     *           "workspaces:read",
                     *           "keys:write"
                     *         ],
                     *         "workspace_ids": null,
                     *         "expires_at": null,
                     *         "version": "0.2.0"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SingleOperatorKeyResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    operatorKeysAdmin_list: {
        parameters: {
            query?: {
                /** @description Only what is older than this time, such as `2026-11-21T08:00:00.000Z`. */
                before?: string;
                /** @description Together with `before`: the last entry of the previous page. */
                before_id?: string;
                /** @description How many at the most. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "Zq3vTn8RkW1b",
                     *           "name": "onboarding",
                     *           "scopes": [
                     *             "workspaces:read",
                     *             "keys:write"
                     *           ],
                     *           "workspace_ids": null,
                     *           "expires_at": null,
                     *           "revoked_at": null,
                     *           "last_used_at": "2026-11-21T08:00:00.125Z",
                     *           "created_at": "2026-11-21T08:00:00.125Z"
                     *         }
                     *       ],
                     *       "pagination": {
                     *         "next_before": "2026-11-21T08:00:00.125Z",
                     *         "next_before_id": "01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["OperatorKeyListResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    operatorKeysAdmin_create: {
        parameters: {
            query?: never;
            header?: {
                /** @description 8 to 128 printable ASCII characters, such as a UUID or `make 4711`; the same for a repeat of the request within 24 hours. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "onboarding",
                 *       "scopes": [
                 *         "workspaces:read",
                 *         "keys:write"
                 *       ],
                 *       "workspace_ids": [
                 *         "01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f"
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["CreateOperatorKeyRequest"];
            };
        };
        responses: {
            /** @description The key, with its text. */
            201: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                    "X-Herald-Read-After": components["headers"]["X-Herald-Read-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "Zq3vTn8RkW1b",
                     *         "name": "onboarding",
                     *         "scopes": [
                     *           "workspaces:read",
                     *           "keys:write"
                     *         ],
                     *         "workspace_ids": null,
                     *         "expires_at": null,
                     *         "revoked_at": null,
                     *         "last_used_at": "2026-11-21T08:00:00.125Z",
                     *         "created_at": "2026-11-21T08:00:00.125Z",
                     *         "key": "hrld_admin_Zq3vTn8RkW1b_example"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SingleIssuedOperatorKeyResponse"];
                };
            };
            400: components["responses"]["Refused400_IDEMPOTENCY_KEY_INVALID_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_operatorKeysAdmin_create"];
            409: components["responses"]["Refused409_IDEMPOTENCY_KEY_REUSED"];
            413: components["responses"]["Refused413_PAYLOAD_TOO_LARGE"];
            415: components["responses"]["Refused415_UNSUPPORTED_CONTENT_TYPE"];
            422: components["responses"]["Refused422_KEY_WORKSPACE_NOT_FOUND"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    operatorKeysAdmin_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the operator key, from the list. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The key, without its secret. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "Zq3vTn8RkW1b",
                     *         "name": "onboarding",
                     *         "scopes": [
                     *           "workspaces:read",
                     *           "keys:write"
                     *         ],
                     *         "workspace_ids": null,
                     *         "expires_at": null,
                     *         "revoked_at": null,
                     *         "last_used_at": "2026-11-21T08:00:00.125Z",
                     *         "created_at": "2026-11-21T08:00:00.125Z"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SingleListedOperatorKeyResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_OPERATOR_KEY_NOT_FOUND"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    operatorKeysAdmin_revoke: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the operator key, from the list. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The key, which has ended. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                    "X-Herald-Read-After": components["headers"]["X-Herald-Read-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "Zq3vTn8RkW1b",
                     *         "name": "onboarding",
                     *         "scopes": [
                     *           "workspaces:read",
                     *           "keys:write"
                     *         ],
                     *         "workspace_ids": null,
                     *         "expires_at": null,
                     *         "revoked_at": null,
                     *         "last_used_at": "2026-11-21T08:00:00.125Z",
                     *         "created_at": "2026-11-21T08:00:00.125Z"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SingleListedOperatorKeyResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_OPERATOR_KEY_BEYOND_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_OPERATOR_KEY_NOT_FOUND"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    operatorKeysAdmin_rotate: {
        parameters: {
            query?: never;
            header?: {
                /** @description 8 to 128 printable ASCII characters, such as a UUID or `make 4711`; the same for a repeat of the request within 24 hours. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Id of the operator key, from the list. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "overlap_seconds": 86400
                 *     }
                 */
                "application/json": components["schemas"]["RotateKeyRequest"];
            };
        };
        responses: {
            /** @description The new key, with its text. */
            201: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                    "X-Herald-Read-After": components["headers"]["X-Herald-Read-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "Zq3vTn8RkW1b",
                     *         "name": "onboarding",
                     *         "scopes": [
                     *           "workspaces:read",
                     *           "keys:write"
                     *         ],
                     *         "workspace_ids": null,
                     *         "expires_at": null,
                     *         "revoked_at": null,
                     *         "last_used_at": "2026-11-21T08:00:00.125Z",
                     *         "created_at": "2026-11-21T08:00:00.125Z",
                     *         "key": "hrld_admin_Zq3vTn8RkW1b_example"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SingleIssuedOperatorKeyResponse"];
                };
            };
            400: components["responses"]["Refused400_IDEMPOTENCY_KEY_INVALID_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_OPERATOR_KEY_BEYOND_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_OPERATOR_KEY_NOT_FOUND"];
            409: components["responses"]["Refused409_IDEMPOTENCY_KEY_REUSED_OPERATOR_KEY_ENDED"];
            413: components["responses"]["Refused413_PAYLOAD_TOO_LARGE"];
            415: components["responses"]["Refused415_UNSUPPORTED_CONTENT_TYPE"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    otpSenderAdmin_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The number. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "phone_number_id": "106540352242922",
                     *         "phone_number": "15550100009",
                     *         "template": "login_code",
                     *         "throughput_per_second": 80,
                     *         "status": "connected",
                     *         "languages": [
                     *           "en_US"
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["OtpSenderResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_OPERATOR_KEY_LIMITED_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_OTP_SENDER_NOT_SET"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    otpSenderAdmin_set: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "phone_number_id": "106540352242922",
                 *       "waba_id": "102290129340398",
                 *       "template": "login_code",
                 *       "token": "<token of a system user>"
                 *     }
                 */
                "application/json": components["schemas"]["SetOtpSenderRequest"];
            };
        };
        responses: {
            /** @description The number. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                    "X-Herald-Read-After": components["headers"]["X-Herald-Read-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "phone_number_id": "106540352242922",
                     *         "phone_number": "15550100009",
                     *         "template": "login_code",
                     *         "throughput_per_second": 80,
                     *         "status": "connected",
                     *         "languages": [
                     *           "en_US"
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["OtpSenderResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_OPERATOR_KEY_LIMITED_SCOPE_REQUIRED"];
            413: components["responses"]["Refused413_PAYLOAD_TOO_LARGE"];
            415: components["responses"]["Refused415_UNSUPPORTED_CONTENT_TYPE"];
            422: components["responses"]["Refused422_NUMBER_REFUSED_OTP_SENDER_REFUSED"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            502: components["responses"]["Refused422_NUMBER_REFUSED"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    peopleAdmin_list: {
        parameters: {
            query?: {
                /** @description Only what is older than this time, such as `2026-11-21T08:00:00.000Z`. */
                before?: string;
                /** @description Together with `before`: the last entry of the previous page. */
                before_id?: string;
                /** @description Only who has this e-mail address, in any case. */
                email?: string;
                /** @description How many at the most. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "01936f75-3e4f-7d50-8162-7c8d9e0f1a2b",
                     *           "name": "Robin Wells",
                     *           "email": "robin@example.com",
                     *           "issuer": "https://login.example.com",
                     *           "is_operator": false,
                     *           "created_at": "2026-11-21T08:00:00.125Z",
                     *           "last_signed_in_at": "2026-11-21T08:00:00.125Z"
                     *         }
                     *       ],
                     *       "pagination": {
                     *         "next_before": "2026-11-21T08:00:00.125Z",
                     *         "next_before_id": "01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["PersonListResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_OPERATOR_KEY_LIMITED_SCOPE_REQUIRED"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    peopleAdmin_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the person, from the list. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The person. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "01936f75-3e4f-7d50-8162-7c8d9e0f1a2b",
                     *         "name": "Robin Wells",
                     *         "email": "robin@example.com",
                     *         "issuer": "https://login.example.com",
                     *         "is_operator": false,
                     *         "created_at": "2026-11-21T08:00:00.125Z",
                     *         "last_signed_in_at": "2026-11-21T08:00:00.125Z",
                     *         "workspaces": [
                     *           {
                     *             "id": "01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f",
                     *             "name": "Example Ltd",
                     *             "role": "agent"
                     *           }
                     *         ],
                     *         "sessions": [
                     *           {
                     *             "created_at": "2026-11-21T08:00:00.125Z",
                     *             "last_seen_at": "2026-11-21T08:00:00.125Z",
                     *             "expires_at": "2026-11-21T08:00:00.125Z"
                     *           }
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SinglePersonResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_OPERATOR_KEY_LIMITED_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_PERSON_NOT_FOUND"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    peopleAdmin_endSessions: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the person, from the list. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The person has no session any more. */
            204: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                    "X-Herald-Read-After": components["headers"]["X-Herald-Read-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_OPERATOR_KEY_LIMITED_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_PERSON_NOT_FOUND"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    ratesAdmin_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All of them; there are no pages. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "countries": [
                     *             "DE"
                     *           ],
                     *           "category": "marketing",
                     *           "tier_from": 1,
                     *           "price": "0.1131",
                     *           "currency": "EUR",
                     *           "valid_from": "2026-10-01"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["RatesResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_OPERATOR_KEY_LIMITED_SCOPE_REQUIRED"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    ratesAdmin_replace: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "csv": "countries,category,tier_from,price,currency,valid_from\nDE,marketing,1,0.1131,EUR,2026-10-01\n"
                 *     }
                 */
                "application/json": components["schemas"]["ReplaceRatesRequest"];
            };
        };
        responses: {
            /** @description How many prices there are now. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                    "X-Herald-Read-After": components["headers"]["X-Herald-Read-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "prices": 1,
                     *         "unpriced": [
                     *           {
                     *             "category": "utility",
                     *             "countries": [
                     *               "FR"
                     *             ],
                     *             "messages": 42
                     *           }
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ReplacedRatesResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_OPERATOR_KEY_LIMITED_SCOPE_REQUIRED"];
            409: components["responses"]["Refused409_RATES_IN_USE"];
            413: components["responses"]["Refused413_PAYLOAD_TOO_LARGE"];
            415: components["responses"]["Refused415_UNSUPPORTED_CONTENT_TYPE"];
            422: components["responses"]["Refused422_RATES_INVALID"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    usageAdmin_get: {
        parameters: {
            query?: {
                /** @description Only what is older than this time, such as `2026-11-21T08:00:00.000Z`. */
                before?: string;
                /** @description Together with `before`: the last entry of the previous page. */
                before_id?: string;
                /** @description `csv`: all pages at once as `text/csv`, for a spreadsheet. */
                format?: "json" | "csv";
                /** @description Workspaces in one page, at the most; those that sent nothing have no line. */
                limit?: number;
                /** @description A month of UTC, such as `2026-10`; left out: the present one. */
                month?: string;
                /** @description Only of this workspace. */
                workspace_id?: string;
            };
            header?: {
                /** @description Of the answer to your last write: the read finds what was written up to then, also where it may be late. */
                "X-Herald-Read-After"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page; with `format=csv` all lines, as `text/csv`. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                    "X-Herald-Lag": components["headers"]["X-Herald-Lag"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "submitted": 1200,
                     *           "accepted": 1190,
                     *           "sent": 1188,
                     *           "delivered": 1151,
                     *           "read": 804,
                     *           "failed": 9,
                     *           "outcome_unknown": 0,
                     *           "received": 310,
                     *           "failures": {
                     *             "recipient_unreachable": 9
                     *           },
                     *           "billable": {
                     *             "marketing": 110
                     *           },
                     *           "free": {
                     *             "free_customer_service": 1041
                     *           },
                     *           "delivery_ms": {
                     *             "p50": 1240,
                     *             "p95": 4800
                     *           },
                     *           "cost": {
                     *             "currency": "EUR",
                     *             "amount": "12.4410"
                     *           },
                     *           "cost_of_priced": {
                     *             "currency": "EUR",
                     *             "amount": "12.4410"
                     *           },
                     *           "unpriced": {},
                     *           "workspace_id": "01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f",
                     *           "workspace": "Lighthouse Coffee",
                     *           "connection": "15550100001",
                     *           "country": "DE",
                     *           "category": "marketing"
                     *         }
                     *       ],
                     *       "pagination": {
                     *         "next_before": "2026-11-21T08:00:00.125Z",
                     *         "next_before_id": "01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["WorkspaceUsageResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    workspacesAdmin_list: {
        parameters: {
            query?: {
                /** @description Only what is older than this time, such as `2026-11-21T08:00:00.000Z`. */
                before?: string;
                /** @description Together with `before`: the last entry of the previous page. */
                before_id?: string;
                /** @description Only the one with this id of yours. */
                external_id?: string;
                /** @description How many at the most. */
                limit?: number;
                /** @description Only those whose name begins so, in any case. */
                name?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f",
                     *           "name": "Lighthouse Coffee",
                     *           "external_id": "customer-4711",
                     *           "state": "active",
                     *           "deletion_requested_at": null,
                     *           "api_paid_until": "2026-11-21T08:00:00.125Z",
                     *           "rate_per_second": null,
                     *           "rate_burst": null,
                     *           "storage_limit_bytes": null,
                     *           "messages_per_day": 10000,
                     *           "spend_per_month": "250.00",
                     *           "marketing_per_recipient_per_week": 2,
                     *           "time_zone": "Europe/Berlin",
                     *           "storage_used_bytes": 1048576,
                     *           "created_at": "2026-11-21T08:00:00.125Z",
                     *           "effective": {
                     *             "needs_subscription": true,
                     *             "rate_per_second": 50,
                     *             "rate_burst": 100,
                     *             "storage_limit_bytes": null
                     *           }
                     *         }
                     *       ],
                     *       "pagination": {
                     *         "next_before": "2026-11-21T08:00:00.125Z",
                     *         "next_before_id": "01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["WorkspaceListResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    workspacesAdmin_create: {
        parameters: {
            query?: never;
            header?: {
                /** @description 8 to 128 printable ASCII characters, such as a UUID or `make 4711`; the same for a repeat of the request within 24 hours. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Lighthouse Coffee",
                 *       "external_id": "customer-4711"
                 *     }
                 */
                "application/json": components["schemas"]["CreateWorkspaceRequest"];
            };
        };
        responses: {
            /** @description The workspace. */
            201: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                    "X-Herald-Read-After": components["headers"]["X-Herald-Read-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f",
                     *         "name": "Lighthouse Coffee",
                     *         "external_id": "customer-4711",
                     *         "state": "active",
                     *         "deletion_requested_at": null,
                     *         "api_paid_until": "2026-11-21T08:00:00.125Z",
                     *         "rate_per_second": null,
                     *         "rate_burst": null,
                     *         "storage_limit_bytes": null,
                     *         "messages_per_day": 10000,
                     *         "spend_per_month": "250.00",
                     *         "marketing_per_recipient_per_week": 2,
                     *         "time_zone": "Europe/Berlin",
                     *         "storage_used_bytes": 1048576,
                     *         "created_at": "2026-11-21T08:00:00.125Z",
                     *         "effective": {
                     *           "needs_subscription": true,
                     *           "rate_per_second": 50,
                     *           "rate_burst": 100,
                     *           "storage_limit_bytes": null
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SingleWorkspaceResponse"];
                };
            };
            400: components["responses"]["Refused400_IDEMPOTENCY_KEY_INVALID_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_OPERATOR_KEY_LIMITED_SCOPE_REQUIRED"];
            409: components["responses"]["Refused409_IDEMPOTENCY_KEY_REUSED_WORKSPACE_EXTERNAL_ID_TAKEN"];
            413: components["responses"]["Refused413_PAYLOAD_TOO_LARGE"];
            415: components["responses"]["Refused415_UNSUPPORTED_CONTENT_TYPE"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    workspacesAdmin_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Workspace ID, from GET /workspaces. */
                workspace_id: unknown;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The workspace. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f",
                     *         "name": "Lighthouse Coffee",
                     *         "external_id": "customer-4711",
                     *         "state": "active",
                     *         "deletion_requested_at": null,
                     *         "api_paid_until": "2026-11-21T08:00:00.125Z",
                     *         "rate_per_second": null,
                     *         "rate_burst": null,
                     *         "storage_limit_bytes": null,
                     *         "messages_per_day": 10000,
                     *         "spend_per_month": "250.00",
                     *         "marketing_per_recipient_per_week": 2,
                     *         "time_zone": "Europe/Berlin",
                     *         "storage_used_bytes": 1048576,
                     *         "created_at": "2026-11-21T08:00:00.125Z",
                     *         "effective": {
                     *           "needs_subscription": true,
                     *           "rate_per_second": 50,
                     *           "rate_burst": 100,
                     *           "storage_limit_bytes": null
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SingleWorkspaceResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_WORKSPACE_NOT_FOUND"];
            409: components["responses"]["Refused409_WORKSPACE_DELETING"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    workspacesAdmin_remove: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Workspace ID, from GET /workspaces. */
                workspace_id: unknown;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The workspace, which is being deleted. */
            202: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                    "X-Herald-Read-After": components["headers"]["X-Herald-Read-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f",
                     *         "name": "Lighthouse Coffee",
                     *         "external_id": "customer-4711",
                     *         "state": "active",
                     *         "deletion_requested_at": null,
                     *         "api_paid_until": "2026-11-21T08:00:00.125Z",
                     *         "rate_per_second": null,
                     *         "rate_burst": null,
                     *         "storage_limit_bytes": null,
                     *         "messages_per_day": 10000,
                     *         "spend_per_month": "250.00",
                     *         "marketing_per_recipient_per_week": 2,
                     *         "time_zone": "Europe/Berlin",
                     *         "storage_used_bytes": 1048576,
                     *         "created_at": "2026-11-21T08:00:00.125Z",
                     *         "effective": {
                     *           "needs_subscription": true,
                     *           "rate_per_second": 50,
                     *           "rate_burst": 100,
                     *           "storage_limit_bytes": null
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SingleWorkspaceResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_WORKSPACE_NOT_FOUND"];
            409: components["responses"]["Refused409_WORKSPACE_DELETING"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    workspacesAdmin_change: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Workspace ID, from GET /workspaces. */
                workspace_id: unknown;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "spend_per_month": "250.00",
                 *       "time_zone": "Europe/Berlin",
                 *       "name": "Lighthouse Coffee",
                 *       "external_id": "customer-4711"
                 *     }
                 */
                "application/json": components["schemas"]["ChangeWorkspaceRequest"];
            };
        };
        responses: {
            /** @description The workspace as it is now. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                    "X-Herald-Read-After": components["headers"]["X-Herald-Read-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f",
                     *         "name": "Lighthouse Coffee",
                     *         "external_id": "customer-4711",
                     *         "state": "active",
                     *         "deletion_requested_at": null,
                     *         "api_paid_until": "2026-11-21T08:00:00.125Z",
                     *         "rate_per_second": null,
                     *         "rate_burst": null,
                     *         "storage_limit_bytes": null,
                     *         "messages_per_day": 10000,
                     *         "spend_per_month": "250.00",
                     *         "marketing_per_recipient_per_week": 2,
                     *         "time_zone": "Europe/Berlin",
                     *         "storage_used_bytes": 1048576,
                     *         "created_at": "2026-11-21T08:00:00.125Z",
                     *         "effective": {
                     *           "needs_subscription": true,
                     *           "rate_per_second": 50,
                     *           "rate_burst": 100,
                     *           "storage_limit_bytes": null
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SingleWorkspaceResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED_WORKSPACE_EXTERNAL_ID_FIXED"];
            404: components["responses"]["Refused404_WORKSPACE_NOT_FOUND"];
            409: components["responses"]["Refused409_workspacesAdmin_change"];
            413: components["responses"]["Refused413_PAYLOAD_TOO_LARGE"];
            415: components["responses"]["Refused415_UNSUPPORTED_CONTENT_TYPE"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    connectionsAdmin_list: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Workspace ID, from GET /workspaces. */
                workspace_id: unknown;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All of them, oldest first; there are no pages. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "01936f6d-0a1b-7f00-8c11-5a6b7c8d9e0f",
                     *           "phone_number": "15550100001",
                     *           "verified_name": "Lighthouse Coffee",
                     *           "status": "connected",
                     *           "status_reason": null,
                     *           "quality_rating": "GREEN",
                     *           "messaging_limit": "TIER_2K",
                     *           "throughput_per_second": 80,
                     *           "service_charged_since": null,
                     *           "marketing_route": "auto",
                     *           "marketing_status": "ONBOARDED",
                     *           "timezone": "Europe/Berlin",
                     *           "created_at": "2026-11-21T08:00:00.000Z",
                     *           "workspace_id": "01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f",
                     *           "phone_number_id": "106540352242922",
                     *           "waba_id": "102290129340398"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["OperatedConnectionListResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_WORKSPACE_NOT_FOUND"];
            409: components["responses"]["Refused409_WORKSPACE_DELETING"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    connectionsAdmin_add: {
        parameters: {
            query?: never;
            header?: {
                /** @description 8 to 128 printable ASCII characters, such as a UUID or `make 4711`; the same for a repeat of the request within 24 hours. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Workspace ID, from GET /workspaces. */
                workspace_id: unknown;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "phone_number_id": "106540352242922",
                 *       "waba_id": "102290129340398",
                 *       "token": "<token of a system user>",
                 *       "marketing_route": "auto"
                 *     }
                 */
                "application/json": components["schemas"]["AddConnectionRequest"];
            };
        };
        responses: {
            /** @description The number. */
            201: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                    "X-Herald-Read-After": components["headers"]["X-Herald-Read-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "01936f6d-0a1b-7f00-8c11-5a6b7c8d9e0f",
                     *         "phone_number": "15550100001",
                     *         "verified_name": "Lighthouse Coffee",
                     *         "status": "connected",
                     *         "status_reason": null,
                     *         "quality_rating": "GREEN",
                     *         "messaging_limit": "TIER_2K",
                     *         "throughput_per_second": 80,
                     *         "service_charged_since": null,
                     *         "marketing_route": "auto",
                     *         "marketing_status": "ONBOARDED",
                     *         "timezone": "Europe/Berlin",
                     *         "created_at": "2026-11-21T08:00:00.000Z",
                     *         "workspace_id": "01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f",
                     *         "phone_number_id": "106540352242922",
                     *         "waba_id": "102290129340398"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SingleOperatedConnectionResponse"];
                };
            };
            400: components["responses"]["Refused400_IDEMPOTENCY_KEY_INVALID_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_WORKSPACE_NOT_FOUND"];
            409: components["responses"]["Refused409_connectionsAdmin_add"];
            413: components["responses"]["Refused413_PAYLOAD_TOO_LARGE"];
            415: components["responses"]["Refused415_UNSUPPORTED_CONTENT_TYPE"];
            422: components["responses"]["Refused422_NUMBER_REFUSED"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            502: components["responses"]["Refused422_NUMBER_REFUSED"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    connectionsAdmin_disconnect: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Connection ID, from the list. */
                id: string;
                /** @description Workspace ID, from GET /workspaces. */
                workspace_id: unknown;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The number, which is disconnected. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                    "X-Herald-Read-After": components["headers"]["X-Herald-Read-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "01936f6d-0a1b-7f00-8c11-5a6b7c8d9e0f",
                     *         "phone_number": "15550100001",
                     *         "verified_name": "Lighthouse Coffee",
                     *         "status": "connected",
                     *         "status_reason": null,
                     *         "quality_rating": "GREEN",
                     *         "messaging_limit": "TIER_2K",
                     *         "throughput_per_second": 80,
                     *         "service_charged_since": null,
                     *         "marketing_route": "auto",
                     *         "marketing_status": "ONBOARDED",
                     *         "timezone": "Europe/Berlin",
                     *         "created_at": "2026-11-21T08:00:00.000Z",
                     *         "workspace_id": "01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f",
                     *         "phone_number_id": "106540352242922",
                     *         "waba_id": "102290129340398"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SingleOperatedConnectionResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_CONNECTION_NOT_FOUND_WORKSPACE_NOT_FOUND"];
            409: components["responses"]["Refused409_WORKSPACE_DELETING"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    connectionsAdmin_change: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Connection ID, from the list. */
                id: string;
                /** @description Workspace ID, from GET /workspaces. */
                workspace_id: unknown;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "marketing_route": "messages"
                 *     }
                 */
                "application/json": components["schemas"]["ChangeConnectionRequest"];
            };
        };
        responses: {
            /** @description The number as it is now. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                    "X-Herald-Read-After": components["headers"]["X-Herald-Read-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "01936f6d-0a1b-7f00-8c11-5a6b7c8d9e0f",
                     *         "phone_number": "15550100001",
                     *         "verified_name": "Lighthouse Coffee",
                     *         "status": "connected",
                     *         "status_reason": null,
                     *         "quality_rating": "GREEN",
                     *         "messaging_limit": "TIER_2K",
                     *         "throughput_per_second": 80,
                     *         "service_charged_since": null,
                     *         "marketing_route": "auto",
                     *         "marketing_status": "ONBOARDED",
                     *         "timezone": "Europe/Berlin",
                     *         "created_at": "2026-11-21T08:00:00.000Z",
                     *         "workspace_id": "01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f",
                     *         "phone_number_id": "106540352242922",
                     *         "waba_id": "102290129340398"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SingleOperatedConnectionResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_CONNECTION_NOT_FOUND_WORKSPACE_NOT_FOUND"];
            409: components["responses"]["Refused409_WORKSPACE_DELETING"];
            413: components["responses"]["Refused413_PAYLOAD_TOO_LARGE"];
            415: components["responses"]["Refused415_UNSUPPORTED_CONTENT_TYPE"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    connectionsAdmin_check: {
        parameters: {
            query?: never;
            header?: {
                /** @description 8 to 128 printable ASCII characters, such as a UUID or `make 4711`; the same for a repeat of the request within 24 hours. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Connection ID, from the list. */
                id: string;
                /** @description Workspace ID, from GET /workspaces. */
                workspace_id: unknown;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The number as the platform describes it. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                    "X-Herald-Read-After": components["headers"]["X-Herald-Read-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "01936f6d-0a1b-7f00-8c11-5a6b7c8d9e0f",
                     *         "phone_number": "15550100001",
                     *         "verified_name": "Lighthouse Coffee",
                     *         "status": "connected",
                     *         "status_reason": null,
                     *         "quality_rating": "GREEN",
                     *         "messaging_limit": "TIER_2K",
                     *         "throughput_per_second": 80,
                     *         "service_charged_since": null,
                     *         "marketing_route": "auto",
                     *         "marketing_status": "ONBOARDED",
                     *         "timezone": "Europe/Berlin",
                     *         "created_at": "2026-11-21T08:00:00.000Z",
                     *         "workspace_id": "01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f",
                     *         "phone_number_id": "106540352242922",
                     *         "waba_id": "102290129340398"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SingleOperatedConnectionResponse"];
                };
            };
            400: components["responses"]["Refused400_IDEMPOTENCY_KEY_INVALID_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_CONNECTION_NOT_FOUND_WORKSPACE_NOT_FOUND"];
            409: components["responses"]["Refused409_connectionsAdmin_check"];
            413: components["responses"]["Refused413_PAYLOAD_TOO_LARGE"];
            415: components["responses"]["Refused415_UNSUPPORTED_CONTENT_TYPE"];
            422: components["responses"]["Refused422_NUMBER_REFUSED"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            502: components["responses"]["Refused422_NUMBER_REFUSED"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    historyAdmin_run: {
        parameters: {
            query?: never;
            header?: {
                /** @description 8 to 128 printable ASCII characters, such as a UUID or `make 4711`; the same for a repeat of the request within 24 hours. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Connection ID, from the list. */
                id: string;
                /** @description Workspace ID, from GET /workspaces. */
                workspace_id: unknown;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /** @example {} */
                "application/json": components["schemas"]["ImportHistoryRequest"];
            };
        };
        responses: {
            /** @description What this call imported. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                    "X-Herald-Read-After": components["headers"]["X-Herald-Read-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "notifications": 12,
                     *         "found": 480,
                     *         "imported": 478,
                     *         "unreadable": 0,
                     *         "progress": 100,
                     *         "declined": false,
                     *         "next": "01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SingleImportedHistoryResponse"];
                };
            };
            400: components["responses"]["Refused400_IDEMPOTENCY_KEY_INVALID_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_CONNECTION_NOT_FOUND_WORKSPACE_NOT_FOUND"];
            409: components["responses"]["Refused409_IDEMPOTENCY_KEY_REUSED_WORKSPACE_DELETING"];
            413: components["responses"]["Refused413_PAYLOAD_TOO_LARGE"];
            415: components["responses"]["Refused415_UNSUPPORTED_CONTENT_TYPE"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    historyAdmin_request: {
        parameters: {
            query?: never;
            header?: {
                /** @description 8 to 128 printable ASCII characters, such as a UUID or `make 4711`; the same for a repeat of the request within 24 hours. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Connection ID, from the list. */
                id: string;
                /** @description Workspace ID, from GET /workspaces. */
                workspace_id: unknown;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description WhatsApp hands it over. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                    "X-Herald-Read-After": components["headers"]["X-Herald-Read-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "requested": true
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SingleRequestedHistoryResponse"];
                };
            };
            400: components["responses"]["Refused400_IDEMPOTENCY_KEY_INVALID_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_CONNECTION_NOT_FOUND_WORKSPACE_NOT_FOUND"];
            409: components["responses"]["Refused409_connectionsAdmin_check"];
            413: components["responses"]["Refused413_PAYLOAD_TOO_LARGE"];
            415: components["responses"]["Refused415_UNSUPPORTED_CONTENT_TYPE"];
            422: components["responses"]["Refused422_HISTORY_REFUSED"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            502: components["responses"]["Refused422_HISTORY_REFUSED"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    erasuresAdmin_create: {
        parameters: {
            query?: never;
            header?: {
                /** @description 8 to 128 printable ASCII characters, such as a UUID or `make 4711`; the same for a repeat of the request within 24 hours. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Workspace ID, from GET /workspaces. */
                workspace_id: unknown;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "number": "+15550100001",
                 *       "dry_run": false
                 *     }
                 */
                "application/json": components["schemas"]["EraseRequest"];
            };
        };
        responses: {
            /** @description What was erased, or counted. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                    "X-Herald-Read-After": components["headers"]["X-Herald-Read-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "erased": true,
                     *         "more": false,
                     *         "waits_for": [],
                     *         "names": 2,
                     *         "counts": {
                     *           "cancelled_messages": 1,
                     *           "messages": 42,
                     *           "received_files": 3,
                     *           "opt_outs": 0,
                     *           "contacts": 1
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SingleErasureResponse"];
                };
            };
            400: components["responses"]["Refused400_IDEMPOTENCY_KEY_INVALID_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_WORKSPACE_NOT_FOUND"];
            409: components["responses"]["Refused409_IDEMPOTENCY_KEY_REUSED_WORKSPACE_DELETING"];
            413: components["responses"]["Refused413_PAYLOAD_TOO_LARGE"];
            415: components["responses"]["Refused415_UNSUPPORTED_CONTENT_TYPE"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    invitationsAdmin_list: {
        parameters: {
            query?: {
                /** @description Only what is older than this time, such as `2026-11-21T08:00:00.000Z`. */
                before?: string;
                /** @description Together with `before`: the last entry of the previous page. */
                before_id?: string;
                /** @description How many at the most. */
                limit?: number;
            };
            header?: never;
            path: {
                /** @description Workspace ID, from GET /workspaces. */
                workspace_id: unknown;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "01936f75-4f50-7e61-8273-8d9e0f1a2b3c",
                     *           "workspace_id": "01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f",
                     *           "email": "robin@example.com",
                     *           "role": "agent",
                     *           "status": "open",
                     *           "created_at": "2026-11-21T08:00:00.125Z",
                     *           "expires_at": "2026-11-28T08:00:00.125Z",
                     *           "accepted_at": null,
                     *           "person_id": null,
                     *           "revoked_at": null,
                     *           "sign_in_url": "https://herald.example/console"
                     *         }
                     *       ],
                     *       "pagination": {
                     *         "next_before": "2026-11-21T08:00:00.125Z",
                     *         "next_before_id": "01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["InvitationListResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_WORKSPACE_NOT_FOUND"];
            409: components["responses"]["Refused409_WORKSPACE_DELETING"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    invitationsAdmin_create: {
        parameters: {
            query?: never;
            header?: {
                /** @description 8 to 128 printable ASCII characters, such as a UUID or `make 4711`; the same for a repeat of the request within 24 hours. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Workspace ID, from GET /workspaces. */
                workspace_id: unknown;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "email": "robin@example.com",
                 *       "role": "agent",
                 *       "expires_in": 604800
                 *     }
                 */
                "application/json": components["schemas"]["CreateInvitationRequest"];
            };
        };
        responses: {
            /** @description The invitation. */
            201: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                    "X-Herald-Read-After": components["headers"]["X-Herald-Read-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "01936f75-4f50-7e61-8273-8d9e0f1a2b3c",
                     *         "workspace_id": "01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f",
                     *         "email": "robin@example.com",
                     *         "role": "agent",
                     *         "status": "open",
                     *         "created_at": "2026-11-21T08:00:00.125Z",
                     *         "expires_at": "2026-11-28T08:00:00.125Z",
                     *         "accepted_at": null,
                     *         "person_id": null,
                     *         "revoked_at": null,
                     *         "sign_in_url": "https://herald.example/console"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SingleInvitationResponse"];
                };
            };
            400: components["responses"]["Refused400_IDEMPOTENCY_KEY_INVALID_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_WORKSPACE_NOT_FOUND"];
            409: components["responses"]["Refused409_IDEMPOTENCY_KEY_REUSED_WORKSPACE_DELETING"];
            413: components["responses"]["Refused413_PAYLOAD_TOO_LARGE"];
            415: components["responses"]["Refused415_UNSUPPORTED_CONTENT_TYPE"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    invitationsAdmin_revoke: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the invitation, from the list. */
                id: string;
                /** @description Workspace ID, from GET /workspaces. */
                workspace_id: unknown;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The invitation, which has ended. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                    "X-Herald-Read-After": components["headers"]["X-Herald-Read-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "01936f75-4f50-7e61-8273-8d9e0f1a2b3c",
                     *         "workspace_id": "01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f",
                     *         "email": "robin@example.com",
                     *         "role": "agent",
                     *         "status": "open",
                     *         "created_at": "2026-11-21T08:00:00.125Z",
                     *         "expires_at": "2026-11-28T08:00:00.125Z",
                     *         "accepted_at": null,
                     *         "person_id": null,
                     *         "revoked_at": null,
                     *         "sign_in_url": "https://herald.example/console"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SingleInvitationResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_INVITATION_NOT_FOUND_WORKSPACE_NOT_FOUND"];
            409: components["responses"]["Refused409_INVITATION_USED_WORKSPACE_DELETING"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    keysAdmin_list: {
        parameters: {
            query?: {
                /** @description Only what is older than this time, such as `2026-11-21T08:00:00.000Z`. */
                before?: string;
                /** @description Together with `before`: the last entry of the previous page. */
                before_id?: string;
                /** @description How many at the most. */
                limit?: number;
            };
            header?: never;
            path: {
                /** @description Workspace ID, from GET /workspaces. */
                workspace_id: unknown;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "y4zZjPLnlOBt",
                     *           "workspace_id": "01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f",
                     *           "name": "orders-service",
                     *           "scopes": [
                     *             "messages:read",
                     *             "messages:write"
                     *           ],
                     *           "otp_project_id": null,
                     *           "expires_at": null,
                     *           "revoked_at": null,
                     *           "last_used_at": "2026-11-21T08:00:00.125Z",
                     *           "created_at": "2026-11-21T08:00:00.125Z"
                     *         }
                     *       ],
                     *       "pagination": {
                     *         "next_before": "2026-11-21T08:00:00.125Z",
                     *         "next_before_id": "01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ApiKeyListResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_WORKSPACE_NOT_FOUND"];
            409: components["responses"]["Refused409_WORKSPACE_DELETING"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    keysAdmin_create: {
        parameters: {
            query?: never;
            header?: {
                /** @description 8 to 128 printable ASCII characters, such as a UUID or `make 4711`; the same for a repeat of the request within 24 hours. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Workspace ID, from GET /workspaces. */
                workspace_id: unknown;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "orders-service",
                 *       "scopes": [
                 *         "messages:read",
                 *         "messages:write"
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["CreateKeyRequest"];
            };
        };
        responses: {
            /** @description The key, with its text. */
            201: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                    "X-Herald-Read-After": components["headers"]["X-Herald-Read-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "y4zZjPLnlOBt",
                     *         "workspace_id": "01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f",
                     *         "name": "orders-service",
                     *         "scopes": [
                     *           "messages:read",
                     *           "messages:write"
                     *         ],
                     *         "otp_project_id": null,
                     *         "expires_at": null,
                     *         "revoked_at": null,
                     *         "last_used_at": "2026-11-21T08:00:00.125Z",
                     *         "created_at": "2026-11-21T08:00:00.125Z",
                     *         "key": "hrld_live_y4zZjPLnlOBt_example"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SingleIssuedKeyResponse"];
                };
            };
            400: components["responses"]["Refused400_IDEMPOTENCY_KEY_INVALID_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_KEY_BEYOND_ROLE_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_WORKSPACE_NOT_FOUND"];
            409: components["responses"]["Refused409_IDEMPOTENCY_KEY_REUSED_WORKSPACE_DELETING"];
            413: components["responses"]["Refused413_PAYLOAD_TOO_LARGE"];
            415: components["responses"]["Refused415_UNSUPPORTED_CONTENT_TYPE"];
            422: components["responses"]["Refused422_KEY_PROJECT_NOT_FOUND_KEY_SCOPES_MIXED"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    keysAdmin_revoke: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the key, from the list. */
                id: string;
                /** @description Workspace ID, from GET /workspaces. */
                workspace_id: unknown;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The key, which has ended. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                    "X-Herald-Read-After": components["headers"]["X-Herald-Read-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "y4zZjPLnlOBt",
                     *         "workspace_id": "01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f",
                     *         "name": "orders-service",
                     *         "scopes": [
                     *           "messages:read",
                     *           "messages:write"
                     *         ],
                     *         "otp_project_id": null,
                     *         "expires_at": null,
                     *         "revoked_at": null,
                     *         "last_used_at": "2026-11-21T08:00:00.125Z",
                     *         "created_at": "2026-11-21T08:00:00.125Z"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SingleApiKeyResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_KEY_NOT_FOUND_WORKSPACE_NOT_FOUND"];
            409: components["responses"]["Refused409_WORKSPACE_DELETING"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    keysAdmin_change: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the key, from the list. */
                id: string;
                /** @description Workspace ID, from GET /workspaces. */
                workspace_id: unknown;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "name": "orders-service",
                 *       "scopes": [
                 *         "messages:read"
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["ChangeKeyRequest"];
            };
        };
        responses: {
            /** @description The key as it is now. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                    "X-Herald-Read-After": components["headers"]["X-Herald-Read-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "y4zZjPLnlOBt",
                     *         "workspace_id": "01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f",
                     *         "name": "orders-service",
                     *         "scopes": [
                     *           "messages:read",
                     *           "messages:write"
                     *         ],
                     *         "otp_project_id": null,
                     *         "expires_at": null,
                     *         "revoked_at": null,
                     *         "last_used_at": "2026-11-21T08:00:00.125Z",
                     *         "created_at": "2026-11-21T08:00:00.125Z"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SingleApiKeyResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_KEY_BEYOND_ROLE_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_KEY_NOT_FOUND_WORKSPACE_NOT_FOUND"];
            409: components["responses"]["Refused409_KEY_ENDED_WORKSPACE_DELETING"];
            413: components["responses"]["Refused413_PAYLOAD_TOO_LARGE"];
            415: components["responses"]["Refused415_UNSUPPORTED_CONTENT_TYPE"];
            422: components["responses"]["Refused422_KEY_SCOPES_MIXED"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    keysAdmin_rotate: {
        parameters: {
            query?: never;
            header?: {
                /** @description 8 to 128 printable ASCII characters, such as a UUID or `make 4711`; the same for a repeat of the request within 24 hours. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Id of the key, from the list. */
                id: string;
                /** @description Workspace ID, from GET /workspaces. */
                workspace_id: unknown;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "overlap_seconds": 86400
                 *     }
                 */
                "application/json": components["schemas"]["RotateKeyRequest"];
            };
        };
        responses: {
            /** @description The new key, with its text. */
            201: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                    "X-Herald-Read-After": components["headers"]["X-Herald-Read-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "y4zZjPLnlOBt",
                     *         "workspace_id": "01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f",
                     *         "name": "orders-service",
                     *         "scopes": [
                     *           "messages:read",
                     *           "messages:write"
                     *         ],
                     *         "otp_project_id": null,
                     *         "expires_at": null,
                     *         "revoked_at": null,
                     *         "last_used_at": "2026-11-21T08:00:00.125Z",
                     *         "created_at": "2026-11-21T08:00:00.125Z",
                     *         "key": "hrld_live_y4zZjPLnlOBt_example"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SingleIssuedKeyResponse"];
                };
            };
            400: components["responses"]["Refused400_IDEMPOTENCY_KEY_INVALID_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_KEY_BEYOND_ROLE_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_KEY_NOT_FOUND_WORKSPACE_NOT_FOUND"];
            409: components["responses"]["Refused409_keysAdmin_rotate"];
            413: components["responses"]["Refused413_PAYLOAD_TOO_LARGE"];
            415: components["responses"]["Refused415_UNSUPPORTED_CONTENT_TYPE"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    optOutKeywordsAdmin_list: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Workspace ID, from GET /workspaces. */
                workspace_id: unknown;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All languages; there are no pages. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "language": "de",
                     *           "out": [
                     *             "stopp",
                     *             "keine werbung"
                     *           ],
                     *           "in": [
                     *             "start"
                     *           ]
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["KeywordsListResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_WORKSPACE_NOT_FOUND"];
            409: components["responses"]["Refused409_WORKSPACE_DELETING"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    optOutKeywordsAdmin_set: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Tag of the language, such as `de` or `pt-BR`. */
                language: string;
                /** @description Workspace ID, from GET /workspaces. */
                workspace_id: unknown;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "out": [
                 *         "stopp",
                 *         "keine werbung"
                 *       ],
                 *       "in": [
                 *         "start"
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["SetKeywordsRequest"];
            };
        };
        responses: {
            /** @description The words of all languages, as they are now. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                    "X-Herald-Read-After": components["headers"]["X-Herald-Read-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "language": "de",
                     *           "out": [
                     *             "stopp",
                     *             "keine werbung"
                     *           ],
                     *           "in": [
                     *             "start"
                     *           ]
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["KeywordsListResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_WORKSPACE_NOT_FOUND"];
            409: components["responses"]["Refused409_WORKSPACE_DELETING"];
            413: components["responses"]["Refused413_PAYLOAD_TOO_LARGE"];
            415: components["responses"]["Refused415_UNSUPPORTED_CONTENT_TYPE"];
            422: components["responses"]["Refused422_OPT_OUT_KEYWORDS_INVALID"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    optOutKeywordsAdmin_remove: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Tag of the language, such as `de` or `pt-BR`. */
                language: string;
                /** @description Workspace ID, from GET /workspaces. */
                workspace_id: unknown;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The words of the other languages. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                    "X-Herald-Read-After": components["headers"]["X-Herald-Read-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "language": "de",
                     *           "out": [
                     *             "stopp",
                     *             "keine werbung"
                     *           ],
                     *           "in": [
                     *             "start"
                     *           ]
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["KeywordsListResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_WORKSPACE_NOT_FOUND"];
            409: components["responses"]["Refused409_WORKSPACE_DELETING"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    otpProjectsAdmin_list: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Workspace ID, from GET /workspaces. */
                workspace_id: unknown;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All of them, oldest first; there are no pages. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "01936f70-0a1b-7c2d-8e3f-4a5b6c7d8ea0",
                     *           "workspace_id": "01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f",
                     *           "name": "Login",
                     *           "mode": "live",
                     *           "template_language": "en_US",
                     *           "allowed_countries": [
                     *             "DE",
                     *             "US"
                     *           ],
                     *           "created_at": "2026-11-21T08:00:00.125Z"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["OtpProjectListResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_WORKSPACE_NOT_FOUND"];
            409: components["responses"]["Refused409_WORKSPACE_DELETING"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    otpProjectsAdmin_create: {
        parameters: {
            query?: never;
            header?: {
                /** @description 8 to 128 printable ASCII characters, such as a UUID or `make 4711`; the same for a repeat of the request within 24 hours. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Workspace ID, from GET /workspaces. */
                workspace_id: unknown;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Login",
                 *       "mode": "live",
                 *       "template_language": "en_US",
                 *       "allowed_countries": [
                 *         "DE",
                 *         "US"
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["CreateOtpProjectRequest"];
            };
        };
        responses: {
            /** @description The project. */
            201: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                    "X-Herald-Read-After": components["headers"]["X-Herald-Read-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "01936f70-0a1b-7c2d-8e3f-4a5b6c7d8ea0",
                     *         "workspace_id": "01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f",
                     *         "name": "Login",
                     *         "mode": "live",
                     *         "template_language": "en_US",
                     *         "allowed_countries": [
                     *           "DE",
                     *           "US"
                     *         ],
                     *         "created_at": "2026-11-21T08:00:00.125Z"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SingleOtpProjectResponse"];
                };
            };
            400: components["responses"]["Refused400_IDEMPOTENCY_KEY_INVALID_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_WORKSPACE_NOT_FOUND"];
            409: components["responses"]["Refused409_IDEMPOTENCY_KEY_REUSED_WORKSPACE_DELETING"];
            413: components["responses"]["Refused413_PAYLOAD_TOO_LARGE"];
            415: components["responses"]["Refused415_UNSUPPORTED_CONTENT_TYPE"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    otpProjectsAdmin_listPackages: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the project, from the list. */
                id: string;
                /** @description Workspace ID, from GET /workspaces. */
                workspace_id: unknown;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The packages. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "allowances": [
                     *           {
                     *             "country": "DE",
                     *             "monthly_limit": 10000
                     *           }
                     *         ],
                     *         "months": [
                     *           {
                     *             "country": "DE",
                     *             "monthly_limit": 10000,
                     *             "month": "2026-11",
                     *             "reserved": 2,
                     *             "used": 4711
                     *           }
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["OtpPackagesResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_OTP_PROJECT_NOT_FOUND_WORKSPACE_NOT_FOUND"];
            409: components["responses"]["Refused409_WORKSPACE_DELETING"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    otpProjectsAdmin_setPackage: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description ISO 3166 alpha-2, in capital letters. */
                country: string;
                /** @description Id of the project, from the list. */
                id: string;
                /** @description Workspace ID, from GET /workspaces. */
                workspace_id: unknown;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "monthly_limit": 10000
                 *     }
                 */
                "application/json": components["schemas"]["SetOtpPackageRequest"];
            };
        };
        responses: {
            /** @description The packages as they are now. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                    "X-Herald-Read-After": components["headers"]["X-Herald-Read-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "allowances": [
                     *           {
                     *             "country": "DE",
                     *             "monthly_limit": 10000
                     *           }
                     *         ],
                     *         "months": [
                     *           {
                     *             "country": "DE",
                     *             "monthly_limit": 10000,
                     *             "month": "2026-11",
                     *             "reserved": 2,
                     *             "used": 4711
                     *           }
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["OtpPackagesResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_OTP_PROJECT_NOT_FOUND_WORKSPACE_NOT_FOUND"];
            409: components["responses"]["Refused409_OTP_PACKAGE_NOT_POSSIBLE_WORKSPACE_DELETING"];
            413: components["responses"]["Refused413_PAYLOAD_TOO_LARGE"];
            415: components["responses"]["Refused415_UNSUPPORTED_CONTENT_TYPE"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    membersAdmin_list: {
        parameters: {
            query?: {
                /** @description Only what is older than this time, such as `2026-11-21T08:00:00.000Z`. */
                before?: string;
                /** @description Together with `before`: the last entry of the previous page. */
                before_id?: string;
                /** @description How many at the most. */
                limit?: number;
            };
            header?: never;
            path: {
                /** @description Workspace ID, from GET /workspaces. */
                workspace_id: unknown;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "01936f75-3e4f-7d50-8162-7c8d9e0f1a2b",
                     *           "name": "Robin Wells",
                     *           "email": "robin@example.com",
                     *           "role": "agent",
                     *           "group_role": null,
                     *           "given_role": "agent",
                     *           "created_at": "2026-11-21T08:00:00.125Z",
                     *           "last_signed_in_at": "2026-11-21T08:00:00.125Z"
                     *         }
                     *       ],
                     *       "pagination": {
                     *         "next_before": "2026-11-21T08:00:00.125Z",
                     *         "next_before_id": "01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["MemberListResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_WORKSPACE_NOT_FOUND"];
            409: components["responses"]["Refused409_WORKSPACE_DELETING"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    membersAdmin_remove: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the person, from the list. */
                id: string;
                /** @description Workspace ID, from GET /workspaces. */
                workspace_id: unknown;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The person is no member any more. */
            204: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                    "X-Herald-Read-After": components["headers"]["X-Herald-Read-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_PERSON_NOT_FOUND_WORKSPACE_NOT_FOUND"];
            409: components["responses"]["Refused409_ROLE_BY_GROUP_WORKSPACE_DELETING"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    membersAdmin_change: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the person, from the list. */
                id: string;
                /** @description Workspace ID, from GET /workspaces. */
                workspace_id: unknown;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "role": "agent"
                 *     }
                 */
                "application/json": components["schemas"]["ChangeMemberRequest"];
            };
        };
        responses: {
            /** @description The member as it is now. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                    "X-Herald-Read-After": components["headers"]["X-Herald-Read-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "01936f75-3e4f-7d50-8162-7c8d9e0f1a2b",
                     *         "name": "Robin Wells",
                     *         "email": "robin@example.com",
                     *         "role": "agent",
                     *         "group_role": null,
                     *         "given_role": "agent",
                     *         "created_at": "2026-11-21T08:00:00.125Z",
                     *         "last_signed_in_at": "2026-11-21T08:00:00.125Z"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SingleMemberResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_PERSON_NOT_FOUND_WORKSPACE_NOT_FOUND"];
            409: components["responses"]["Refused409_ROLE_BY_GROUP_WORKSPACE_DELETING"];
            413: components["responses"]["Refused413_PAYLOAD_TOO_LARGE"];
            415: components["responses"]["Refused415_UNSUPPORTED_CONTENT_TYPE"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    membersAdmin_endSessions: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the person, from the list. */
                id: string;
                /** @description Workspace ID, from GET /workspaces. */
                workspace_id: unknown;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The person has no session any more. */
            204: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                    "X-Herald-Read-After": components["headers"]["X-Herald-Read-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_PERSON_NOT_FOUND_WORKSPACE_NOT_FOUND"];
            409: components["responses"]["Refused409_WORKSPACE_DELETING"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    setupLinksAdmin_list: {
        parameters: {
            query?: {
                /** @description Only what is older than this time, such as `2026-11-21T08:00:00.000Z`. */
                before?: string;
                /** @description Together with `before`: the last entry of the previous page. */
                before_id?: string;
                /** @description How many at the most. */
                limit?: number;
            };
            header?: never;
            path: {
                /** @description Workspace ID, from GET /workspaces. */
                workspace_id: unknown;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "01936f74-2d3e-7c4f-9051-6b7c8d9e0f1a",
                     *           "workspace_id": "01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f",
                     *           "status": "open",
                     *           "signup": "manual",
                     *           "locale": "en_US",
                     *           "return_url": null,
                     *           "created_at": "2026-11-21T08:00:00.125Z",
                     *           "expires_at": "2026-11-28T08:00:00.125Z",
                     *           "opened_at": null,
                     *           "completed_at": null,
                     *           "revoked_at": null,
                     *           "connection_id": "01936f6d-0a1b-7f00-8c11-5a6b7c8d9e0f",
                     *           "steps": [
                     *             {
                     *               "name": "access",
                     *               "state": "open",
                     *               "at": null,
                     *               "problem": null
                     *             }
                     *           ]
                     *         }
                     *       ],
                     *       "pagination": {
                     *         "next_before": "2026-11-21T08:00:00.125Z",
                     *         "next_before_id": "01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SetupLinkListResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_WORKSPACE_NOT_FOUND"];
            409: components["responses"]["Refused409_WORKSPACE_DELETING"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    setupLinksAdmin_create: {
        parameters: {
            query?: never;
            header?: {
                /** @description 8 to 128 printable ASCII characters, such as a UUID or `make 4711`; the same for a repeat of the request within 24 hours. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Workspace ID, from GET /workspaces. */
                workspace_id: unknown;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "signup": "manual",
                 *       "expires_in": 604800,
                 *       "locale": "en_US"
                 *     }
                 */
                "application/json": components["schemas"]["CreateSetupLinkRequest"];
            };
        };
        responses: {
            /** @description The link, with its address. */
            201: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                    "X-Herald-Read-After": components["headers"]["X-Herald-Read-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "01936f74-2d3e-7c4f-9051-6b7c8d9e0f1a",
                     *         "workspace_id": "01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f",
                     *         "status": "open",
                     *         "signup": "manual",
                     *         "locale": "en_US",
                     *         "return_url": null,
                     *         "created_at": "2026-11-21T08:00:00.125Z",
                     *         "expires_at": "2026-11-28T08:00:00.125Z",
                     *         "opened_at": null,
                     *         "completed_at": null,
                     *         "revoked_at": null,
                     *         "connection_id": "01936f6d-0a1b-7f00-8c11-5a6b7c8d9e0f",
                     *         "steps": [
                     *           {
                     *             "name": "access",
                     *             "state": "open",
                     *             "at": null,
                     *             "problem": null
                     *           }
                     *         ],
                     *         "url": "https://herald.example/setup/hrld_setup_example"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SingleIssuedSetupLinkResponse"];
                };
            };
            400: components["responses"]["Refused400_IDEMPOTENCY_KEY_INVALID_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_WORKSPACE_NOT_FOUND"];
            409: components["responses"]["Refused409_IDEMPOTENCY_KEY_REUSED_WORKSPACE_DELETING"];
            413: components["responses"]["Refused413_PAYLOAD_TOO_LARGE"];
            415: components["responses"]["Refused415_UNSUPPORTED_CONTENT_TYPE"];
            422: components["responses"]["Refused422_SETUP_RETURN_URL_REFUSED_SETUP_SIGNUP_OFF"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    setupLinksAdmin_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the setup link, from the list. */
                id: string;
                /** @description Workspace ID, from GET /workspaces. */
                workspace_id: unknown;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The link, without its address. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "01936f74-2d3e-7c4f-9051-6b7c8d9e0f1a",
                     *         "workspace_id": "01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f",
                     *         "status": "open",
                     *         "signup": "manual",
                     *         "locale": "en_US",
                     *         "return_url": null,
                     *         "created_at": "2026-11-21T08:00:00.125Z",
                     *         "expires_at": "2026-11-28T08:00:00.125Z",
                     *         "opened_at": null,
                     *         "completed_at": null,
                     *         "revoked_at": null,
                     *         "connection_id": "01936f6d-0a1b-7f00-8c11-5a6b7c8d9e0f",
                     *         "steps": [
                     *           {
                     *             "name": "access",
                     *             "state": "open",
                     *             "at": null,
                     *             "problem": null
                     *           }
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SingleSetupLinkResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_SETUP_LINK_NOT_FOUND_WORKSPACE_NOT_FOUND"];
            409: components["responses"]["Refused409_WORKSPACE_DELETING"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    setupLinksAdmin_revoke: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the setup link, from the list. */
                id: string;
                /** @description Workspace ID, from GET /workspaces. */
                workspace_id: unknown;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The link, which has ended. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                    "X-Herald-Read-After": components["headers"]["X-Herald-Read-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "01936f74-2d3e-7c4f-9051-6b7c8d9e0f1a",
                     *         "workspace_id": "01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f",
                     *         "status": "open",
                     *         "signup": "manual",
                     *         "locale": "en_US",
                     *         "return_url": null,
                     *         "created_at": "2026-11-21T08:00:00.125Z",
                     *         "expires_at": "2026-11-28T08:00:00.125Z",
                     *         "opened_at": null,
                     *         "completed_at": null,
                     *         "revoked_at": null,
                     *         "connection_id": "01936f6d-0a1b-7f00-8c11-5a6b7c8d9e0f",
                     *         "steps": [
                     *           {
                     *             "name": "access",
                     *             "state": "open",
                     *             "at": null,
                     *             "problem": null
                     *           }
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SingleSetupLinkResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_SETUP_LINK_NOT_FOUND_WORKSPACE_NOT_FOUND"];
            409: components["responses"]["Refused409_SETUP_LINK_USED_WORKSPACE_DELETING"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
}

/** Codes that errors may have; a later Herald may know more. */
export type ErrorCode =
  | 'API_KEY_EXPIRED'
  | 'API_KEY_INVALID'
  | 'API_KEY_MISSING'
  | 'API_KEY_REVOKED'
  | 'CONNECTION_NOT_FOUND'
  | 'CONNECTION_NOT_READY'
  | 'EVENT_CURSOR_EXPIRED'
  | 'HISTORY_REFUSED'
  | 'IDEMPOTENCY_KEY_INVALID'
  | 'IDEMPOTENCY_KEY_REUSED'
  | 'INTERNAL_ERROR'
  | 'INVALID_REQUEST'
  | 'INVITATION_NOT_FOUND'
  | 'INVITATION_USED'
  | 'KEY_BEYOND_ROLE'
  | 'KEY_ENDED'
  | 'KEY_NOT_FOUND'
  | 'KEY_PROJECT_NOT_FOUND'
  | 'KEY_SCOPES_MIXED'
  | 'KEY_WORKSPACE_NOT_FOUND'
  | 'NUMBER_REFUSED'
  | 'NUMBER_TAKEN'
  | 'OPERATOR_KEY_BEYOND'
  | 'OPERATOR_KEY_ENDED'
  | 'OPERATOR_KEY_LIMITED'
  | 'OPERATOR_KEY_NOT_FOUND'
  | 'OPERATOR_KEY_REQUIRED'
  | 'OPT_OUT_KEYWORDS_INVALID'
  | 'OTP_PACKAGE_NOT_POSSIBLE'
  | 'OTP_PROJECT_NOT_FOUND'
  | 'OTP_SENDER_NOT_SET'
  | 'OTP_SENDER_REFUSED'
  | 'PAYLOAD_TOO_LARGE'
  | 'PERSON_NOT_FOUND'
  | 'RATES_INVALID'
  | 'RATES_IN_USE'
  | 'RATE_LIMITED'
  | 'ROLE_BY_GROUP'
  | 'SCOPE_REQUIRED'
  | 'SERVICE_UNAVAILABLE'
  | 'SETUP_LINK_NOT_FOUND'
  | 'SETUP_LINK_USED'
  | 'SETUP_RETURN_URL_REFUSED'
  | 'SETUP_SIGNUP_OFF'
  | 'SPEND_LIMIT_NEEDS_PRICES'
  | 'UNSUPPORTED_CONTENT_TYPE'
  | 'WORKSPACE_DELETING'
  | 'WORKSPACE_EXTERNAL_ID_FIXED'
  | 'WORKSPACE_EXTERNAL_ID_TAKEN'
  | 'WORKSPACE_NOT_FOUND';
