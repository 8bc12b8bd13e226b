// Generated from openapi-admin.json by `npm run generate`; `index.ts` says what to import.

export interface paths {
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
         *     Idempotency-Key answers the same key with `key: null`.
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
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
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
             * @description At most a minute old; null: not used yet.
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
             * @description At most a minute old; null: not used yet.
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
        RotateKeyRequest: {
            /** @description Seconds for which both keys work; 0 ends the old one at once. Default: 86400. */
            overlap_seconds?: number;
        };
        SingleApiKeyResponse: {
            data: components["schemas"]["ApiKeyResponse"];
        };
        SingleIssuedKeyResponse: {
            data: components["schemas"]["IssuedKeyResponse"];
        };
        SingleWorkspaceResponse: {
            data: components["schemas"]["WorkspaceResponse"];
        };
        WorkspaceListResponse: {
            data: components["schemas"]["WorkspaceResponse"][];
            pagination: components["schemas"]["PaginationResponse"];
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
         * @description - [`OPERATOR_KEY_LIMITED`](/docs/errors#OPERATOR_KEY_LIMITED): The operator key is limited to some workspaces, and the route concerns the whole installation.
         *     - [`SCOPE_REQUIRED`](/docs/errors#SCOPE_REQUIRED): The key is valid, but lacks the scope of this route.
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
        /** @description - [`SCOPE_REQUIRED`](/docs/errors#SCOPE_REQUIRED): The key is valid, but lacks the scope of this route. */
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
        /** @description - [`RATE_LIMITED`](/docs/errors#RATE_LIMITED): The key, or an address that sent no valid key, made more requests than its limit allows. With `scope`: `workspace_reads`: too many reads of the workspace are under way and wait; `waiting_readers`: too many calls of `GET /events` wait; `large_batches`: batches of the workspace above 256 KiB are under way; `webhook_replay`: a replay was refused as too large within the last ten seconds; `webhook_changes`: the webhook was changed, or its secret replaced, too often within an hour; `number_profile`: too many reads and changes of the profile of one number. */
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
         * @description The caller's X-Request-Id where it matches ^[A-Za-z0-9._-]{1,128}$, else a new one.
         * @example 5b8a4f7e-0c1d-4c43-9b5e-2f6f1b7b8a10
         */
        "X-Request-Id": string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
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
            409: components["responses"]["Refused409_workspacesAdmin_change"];
            413: components["responses"]["Refused413_PAYLOAD_TOO_LARGE"];
            415: components["responses"]["Refused415_UNSUPPORTED_CONTENT_TYPE"];
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
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
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
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
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
}

/** Codes that errors may have; a later Herald may know more. */
export type ErrorCode =
  | 'API_KEY_EXPIRED'
  | 'API_KEY_INVALID'
  | 'API_KEY_MISSING'
  | 'API_KEY_REVOKED'
  | 'IDEMPOTENCY_KEY_INVALID'
  | 'IDEMPOTENCY_KEY_REUSED'
  | 'INTERNAL_ERROR'
  | 'INVALID_REQUEST'
  | 'KEY_ENDED'
  | 'KEY_NOT_FOUND'
  | 'KEY_PROJECT_NOT_FOUND'
  | 'KEY_SCOPES_MIXED'
  | 'OPERATOR_KEY_LIMITED'
  | 'OPERATOR_KEY_REQUIRED'
  | 'PAYLOAD_TOO_LARGE'
  | 'RATE_LIMITED'
  | 'SCOPE_REQUIRED'
  | 'SERVICE_UNAVAILABLE'
  | 'SPEND_LIMIT_NEEDS_PRICES'
  | 'UNSUPPORTED_CONTENT_TYPE'
  | 'WORKSPACE_DELETING'
  | 'WORKSPACE_EXTERNAL_ID_TAKEN'
  | 'WORKSPACE_NOT_FOUND';
