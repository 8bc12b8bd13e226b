// Generated from openapi.json by `npm run generate`; `index.ts` says what to import.

export interface paths {
    "/api/v1/connections": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the workspace's WhatsApp numbers
         * @description Each has a connection ID, which names the sending number in every other call.
         *
         *     Needs a key with the scope `connections:read`.
         */
        get: operations["connections_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/connections/{id}/profile": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a number's business profile
         * @description Read from the WhatsApp platform, and kept for 5 seconds: a change made elsewhere may show that much later. Reads
         *     and changes that reach the platform are 100 at once of one number, and one a second: beyond that it is 429, with
         *     `scope: "number_profile"`.
         *
         *     Needs a key with the scope `profile:read`.
         */
        get: operations["profile_get"];
        /**
         * Change a number's business profile
         * @description Changes the fields given and answers with the whole profile. What the platform refuses comes back as
         *     `PLATFORM_REJECTED` with its reason. Repeating a request does no harm.
         *
         *     Needs a key with the scope `profile:write`.
         */
        put: operations["profile_update"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/connections/{id}/templates": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List templates and their moderation statuses
         * @description All templates of the connection's account, by name and language; the numbers of one account share them.
         *     Compared with the platform when the last comparison is older than a minute; changes that the platform reports show
         *     at once. While the platform is down, the list shows what was known last (`synced_at`).
         *
         *     The parameters are an addition of this service. Without them the whole list comes: the platform allows an account
         *     6,000 templates at the most, counted by language. Each 250 count as one request.
         *
         *     Needs a key with the scope `templates:read`.
         */
        get: operations["templates_list"];
        put?: never;
        /**
         * Create a template
         * @description Hands a template to the platform for review; send it once its status is `approved`. It is made either of
         *     `body` with one example for each variable, or of `components` in the platform's own format. One request makes one
         *     language; a further one with the same name adds another.
         *
         *     A header with a picture, a film or a document, the template's own or a card's, shows a sample to the review: give
         *     `example: {media_object_id}`, a file from `POST /media`, or `example: {header_handle}`, which the platform gives for an
         *     upload of your own. Herald uploads the file for the app that its operator has named.
         *
         *     Where the platform gives no clear answer (502, 504) the template may still exist: read it before you repeat
         *     the request.
         *
         *     Needs a key with the scope `templates:write`.
         */
        post: operations["templates_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/connections/{id}/templates/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read one template
         * @description All languages of a template, or with `language` that one only.
         *
         *     Only an `approved` template can be sent.
         *
         *     Needs a key with the scope `templates:read`.
         */
        get: operations["templates_get"];
        put?: never;
        post?: never;
        /**
         * Delete a template
         * @description Deletes all languages of a template. The name is gone here at once, even while the platform still lists it;
         *     the platform refuses a new template with the name of an approved one for 30 days. The example is the one that the
         *     first example of POST makes.
         *
         *     Needs a key with the scope `templates:write`.
         */
        delete: operations["templates_remove"];
        options?: never;
        head?: never;
        /**
         * Change the components of a template
         * @description Replaces all components of one language; the platform reviews them again, and until then the template
         *     cannot be sent. An approved template can be changed once in 24 hours and ten times in 30 days. Samples of headers are
         *     given as for a new template.
         *
         *     Needs a key with the scope `templates:write`.
         */
        patch: operations["templates_edit"];
        trace?: never;
    };
    "/api/v1/connections/{id}/templates/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Preview a template with its variables filled
         * @description Renders the template as its reader will see it, and sends nothing. `missing` names the variables that got
         *     no value, `unused` the values that no variable takes. A value that a send refuses, such as an empty one or one with a line
         *     break, is 422 as there. Give the `components` that you will send, or `parameters` with the values of header and body alone.
         *
         *     Needs a key with the scope `templates:read`.
         */
        post: operations["templates_preview"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/conversations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List conversations
         * @description One conversation is one contact on one of your numbers; a conversation is listed from its first message on.
         *     Newest activity first: by the time of `last_message`, sent or received. Its thread is
         *     `GET /messages?conversation_id=`.
         *
         *     For the next page pass `next_before` and `next_before_id` of the answer as `before` and `before_id`; both are null on
         *     the last page. A page may have fewer conversations than `limit`, even none, where a few contacts have very many
         *     messages: only null means that there are no more. A conversation in which something happens meanwhile moves to the
         *     front, so read the first page again to see it.
         *
         *     With `unread` a page looks at up to five, and counts as so many requests. With `waiting` the order is that of the
         *     customers' messages.
         *
         *     Needs a key with the scope `messages:read`.
         */
        get: operations["conversations_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/conversations/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read one conversation
         * @description The contact, the last message, how long the 24-hour window is open, and how many messages are unread.
         *     `conversation_id` of an older message may name a conversation that has become part of another one: the answer is
         *     that one, with its own `id`.
         *
         *     Needs a key with the scope `messages:read`.
         */
        get: operations["conversations_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Close or assign a conversation
         * @description `closed`, `assignee` and `assignee_id` are yours: Herald keeps them, filters by them, and does nothing else with them. Each
         *     change is a `conversation.updated`. The next message of the customer sets `closed` to `false`, which is one, too; a reaction does
         *     not. What is left out of the body stays as it is. A key without `messages:read` gets `id`, `closed`, `assignee` and `assignee_id`
         *     only.
         *
         *     Needs a key with the scope `messages:write`.
         */
        patch: operations["conversations_update"];
        trace?: never;
    };
    "/api/v1/conversations/{id}/control": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Pass, release or take control of a conversation
         * @description Where several apps answer on a number, only the owner of a conversation may send ordinary messages; those of
         *     others fail with `failure_category: not_conversation_owner`. Templates may be sent by all.
         *
         *     WhatsApp is called within the request. After 502 or 504 the owner may still have changed; the next notification
         *     of WhatsApp says so, and `conversation.control.updated` tells you. A key without `messages:read` gets `id`, `owner` and
         *     `owner_role` only.
         *
         *     Needs a key with the scope `messages:write`.
         */
        post: operations["conversations_control"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/destinations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the event destinations
         * @description All of the workspace, oldest first; there are no pages. Each says how it is: what it has written, what waits for it, what
         *     went wrong last.
         *
         *     Needs a key with the scope `webhooks:read`.
         */
        get: operations["destinations_list"];
        put?: never;
        /**
         * Make an event destination
         * @description A NATS JetStream stream, a RabbitMQ exchange or an SQS queue of yours, to which Herald writes the events of the workspace from
         *     now on: the bytes of a webhook's delivery, with the headers of CloudEvents. Streams, exchanges and queues must be there already. A
         *     workspace has at most twenty destinations, beside its webhook and any number of readers of GET /events.
         *
         *     Each event is written until the broker has acknowledged it, those of a conversation in their order; after a failure Herald tries again
         *     later and later, every five minutes in the end. A duplicate, with the same id, may come only after a connection or a process broke.
         *
         *     The host must lead to public addresses, unless the operator names host and port in `EVENT_DESTINATION_HOSTS`. Secrets are stored
         *     encrypted and never shown. A workspace has sixty calls at once that make, change or replay destinations, and one more each minute;
         *     beyond that the answer is 429 with `scope: "destination_changes"`.
         *
         *     Needs a key with the scope `webhooks:write`.
         */
        post: operations["destinations_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/destinations/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read an event destination
         * @description One entry of GET /destinations. The values of its secrets are not shown; `secrets` has their names.
         *
         *     Needs a key with the scope `webhooks:read`.
         */
        get: operations["destinations_get"];
        put?: never;
        post?: never;
        /**
         * Delete an event destination
         * @description What waits for it is not written any more. A destination that is made later begins with the events of then.
         *
         *     Needs a key with the scope `webhooks:write`.
         */
        delete: operations["destinations_remove"];
        options?: never;
        head?: never;
        /**
         * Change an event destination
         * @description What is left out stays as it is. Settings of its kind are given as a whole; secrets that are left out stay, unless host, port
         *     or TLS change. Its place stays too: what waits goes to the new address. A destination that fails is tried again at once.
         *
         *     Needs a key with the scope `webhooks:write`.
         */
        patch: operations["destinations_change"];
        trace?: never;
    };
    "/api/v1/destinations/{id}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Pause an event destination
         * @description Events wait in Herald, which goes on recording them, as long as it keeps them: 30 days unless the installation says otherwise.
         *
         *     Needs a key with the scope `webhooks:write`.
         */
        post: operations["destinations_pause"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/destinations/{id}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Write events of a destination again
         * @description Goes back to a time: everything that Herald keeps of then and later is written again, in its order and under the same ids, then
         *     what waits. A broker that removes duplicates by id, as SQS FIFO does for five minutes, may leave out what it got shortly before.
         *
         *     Needs a key with the scope `webhooks:write`.
         */
        post: operations["destinations_replay"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/destinations/{id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resume an event destination
         * @description What waited is written in its order. A destination that fails is tried again at once, without waiting for `retry_at`.
         *
         *     Needs a key with the scope `webhooks:write`.
         */
        post: operations["destinations_resume"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/destinations/{id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Write a test event to a destination
         * @description Connects, writes one `webhook.test` event and waits for its acknowledgement, ten seconds or so at the most. The answer says
         *     whether that worked, also while the destination is paused.
         *
         *     Needs a key with the scope `webhooks:write`.
         */
        post: operations["destinations_test"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read events in order
         * @description What webhooks deliver, for a reader that polls, or for a receiver that was down: begin behind the `cursor`
         *     of the last delivery. Pass `next` of each answer as `after` of the following call, and you see each event exactly
         *     once, in the order of the transactions that made the changes: of two changes of which one began after the other was
         *     stored, the earlier one comes first. An event is given as soon as no transaction is open that began before its own,
         *     which is a matter of milliseconds; until then `done` is false.
         *
         *     Events of all types are recorded from the moment the workspace has a webhook, chosen by it or not, or from the first
         *     call, and are kept for 30 days, unless the installation says otherwise. A workspace without a webhook that has not
         *     called for seven days is no longer recorded; the next call begins again. With `types` a page may be empty and `done`
         *     false: others were passed over.
         *
         *     With `wait` a call answers as soon as an event is there, mostly within 300 ms of its commit, or empty after so many
         *     seconds: call again at once with `next`. An event that is there already, and a page that only passed others over,
         *     does not wait. A hundred calls of a workspace may wait in one process; beyond that the answer is 429 with
         *     `scope: "waiting_readers"`. A server that stops answers all at once, empty.
         *
         *     Events about messages and opt-outs need the scope `messages:read` too, those about files `media:read` or `messages:read`: for a
         *     key without it they are left out, and `omitted` names their types.
         *
         *     Needs a key with the scope `webhooks:read`.
         */
        get: operations["events_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/key": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read your key
         * @description The workspace, the scopes and the rate of the key that makes this call: what a program may do with it,
         *     without trying. Every valid key may ask, one of an OTP project too, and the session of a person. The key itself is not shown.
         */
        get: operations["keys_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/media": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List media files
         * @description The workspace's files, uploaded and received, newest first. For the next page pass `next_before` and
         *     `next_before_id` of the answer as `before` and `before_id`; both are null on the last page.
         *
         *     Needs a key with the scope `media:read`.
         */
        get: operations["media_list"];
        put?: never;
        /**
         * Upload a file
         * @description Stores a file for sending: pass its `id` as `media.id` of a message, as often as you like. Its type is detected
         *     from its bytes, never from its name; `type`, where given, must agree.
         *
         *     | Type | Formats | At most |
         *     |---|---|---|
         *     | image | `image/jpeg`, `image/png` | 5 MiB |
         *     | video | `video/mp4`, `video/3gpp` | 16 MiB |
         *     | audio | `audio/aac`, `audio/amr`, `audio/mpeg`, `audio/mp4`, `audio/ogg; codecs=opus` | 16 MiB |
         *     | document | `text/plain`, `application/pdf`, `application/msword`, `application/vnd.ms-excel`, `application/vnd.ms-powerpoint`, `application/vnd.openxmlformats-officedocument.wordprocessingml.document`, `application/vnd.openxmlformats-officedocument.spreadsheetml.sheet`, `application/vnd.openxmlformats-officedocument.presentationml.presentation` | 32 MiB |
         *     | sticker | `image/webp` | 100 KiB |
         *     | sticker (animated) | `image/webp` | 500 KiB |
         *
         *     A voice message (`voice=true`) is Ogg with Opus, mono.
         *
         *     Needs a key with the scope `media:write`.
         */
        post: operations["media_upload"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/media/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read what is known of a file
         * @description `status` is `pending` while Herald fetches a file that a customer sent, mostly for seconds after the
         *     message.
         *
         *     Needs a key with the scope `media:read`.
         */
        get: operations["media_get"];
        put?: never;
        post?: never;
        /**
         * Delete a file
         * @description Deletes the bytes here, and at the platform where they are there too; links to it end. A queued message that
         *     needs the file fails with `media_error`.
         *
         *     Needs a key with the scope `media:write`.
         */
        delete: operations["media_delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/media/{id}/url": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a temporary link to a file
         * @description The link works without a key for 15 minutes, for every client that has it. It answers with the bytes, to GET and
         *     HEAD, and to a `Range` of bytes: as an attachment, or with `disposition=inline` as what a browser shows. A file that a customer sent has none (409) until Herald has
         *     fetched it, mostly seconds after the message, and never (404) where it could not be fetched.
         *
         *     Needs a key with the scope `media:read`.
         */
        get: operations["media_link"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/members": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the people of the workspace
         * @description To whom conversations can be assigned: who signs in to the console and is a member of this workspace, newest first. It is empty
         *     where the operator has set no issuer. For the next page pass `next_before` and `next_before_id` of the answer as `before` and `before_id`.
         *
         *     Needs a key with the scope `messages:read`.
         */
        get: operations["members_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the message journal
         * @description The workspace's messages in both directions, newest first. For the next page pass `next_before` and
         *     `next_before_id` of the answer as `before` and `before_id`; both are null on the last page.
         *
         *     Where filters together leave little of very many messages (`status` with `client_message_id` or `to`, for example), a
         *     page looks at 2,000 of them, and may then have fewer entries than `limit`, or none: go on while `next_before` is set.
         *
         *     Needs a key with the scope `messages:read`.
         */
        get: operations["messages_list"];
        put?: never;
        /**
         * Queue a message
         * @description Stores the message durably, queues it and answers at once; the delivery is followed with GET
         *     /messages/{id}.
         *
         *     The body is exactly one of the variants, with exactly one of `to` (a phone number) and `recipient` (the user id
         *     of a contact who may hide the number, as `contact.user_id` names it). Outside the 24-hour window that a contact
         *     opens by writing, only a template may be sent. Messages to one recipient go out in the order in which they were
         *     taken.
         *
         *     A template must be approved, and take the values that are given; its text is then the `body` of the message. A
         *     file is named by the id that POST /media gave: in `media.id`, in `media_object_id`, or in the header of a
         *     template. Herald uploads it to WhatsApp at its first use. Where the header of a template shows a file,
         *     `media_object_id` fills it.
         *
         *     Repeat a request with the same Idempotency-Key as often as you like: one key makes one message and never expires.
         *
         *     Needs a key with the scope `messages:write`.
         */
        post: operations["messages_send"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/messages/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read one message with its send attempts
         * @description Poll it to follow a delivery, or receive webhooks instead. `attempts` lists the outcome of each attempt,
         *     and `error` why the last one failed.
         *
         *     Its states in order: `queued`, `processing`, `accepted`, `sent`, `delivered`, `read`; else `failed` or
         *     `outcome_unknown`.
         *
         *     Needs a key with the scope `messages:read`.
         */
        get: operations["messages_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/messages/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel a message that waits
         * @description Cancels a message that is scheduled or queued: it is `failed` with `failure_category: canceled`, and is
         *     never sent, unless you retry it. Once a worker has taken it for sending, the answer is 409: nothing can take it back
         *     any more. Repeating it answers as the first time. A key without `messages:read` gets `id` and `status` only.
         *
         *     Needs a key with the scope `messages:write`.
         */
        post: operations["messages_cancel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/messages/{id}/read": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Mark a received message as read
         * @description Shows the customer the two blue ticks, on this message and on all earlier ones of the conversation. With
         *     `typing_indicator: true` they also see that you are typing, for 25 seconds or until your next message.
         *
         *     WhatsApp is called within the request: nothing is queued, and 200 says that WhatsApp took it. A repeat without
         *     `typing_indicator` answers as the first time and makes no call. Repeating after 502 or 504 does no harm.
         *
         *     Needs a key with the scope `messages:write`.
         */
        post: operations["messages_read"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/messages/{id}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a failed message again
         * @description Queues a new attempt. A message whose outcome is unknown may have been sent: it goes again only with
         *     `confirm_outcome_unknown: true`, and the recipient may then get it twice. What must be so for a send, such as an
         *     open window or an approved template, must be so for a retry too.
         *
         *     Needs a key with the scope `messages:write`.
         */
        post: operations["messages_retry"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/messages/{id}/timeline": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read what happened to one message, and why
         * @description Every move with its time, its cause and who brought it about, with the webhook deliveries that told of it;
         *     and `explanation`: where the message stands in words, who can do something about it, and whether a retry makes
         *     sense. `summary` is for people; programs branch on `event`, `status` and `failure_category`.
         *
         *     Told from what is kept: the last 100 attempts, and up to 500 entries. `not_kept` says what is gone. A retry clears
         *     the times of the attempt before it, which are then told by webhook events alone. Deliveries are looked for among the
         *     workspace's 10,000 events behind each move.
         *
         *     Needs a key with the scope `messages:read`.
         */
        get: operations["messages_timeline"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/messages/batch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Queue up to 100 messages
         * @description Each message is as for POST /messages, with its own `idempotency_key` in it. They are stored in one
         *     transaction; those to one recipient go out in the order of `messages`. `index` in the answer is a message's place.
         *
         *     With `validation: strict`, which is the default, all messages are taken or none: one that cannot be sent makes it 422
         *     with the errors of all. With `permissive` those that can be sent are taken, and `errors` lists the others with what
         *     POST /messages would answer.
         *
         *     Repeat a batch as often as you like, whole or in parts: a key that is known makes no further message, and is
         *     `replayed`. The same key twice in one batch is refused.
         *
         *     Each message counts as one request of the key's limit. Where fewer are left it is 429, nothing is taken, and
         *     `Retry-After` says when there will be enough. The body has at most 4 MiB.
         *
         *     Needs a key with the scope `messages:write`.
         */
        post: operations["messages_sendBatch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/messages/batch/check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Check up to 100 messages before you send them
         * @description The body of POST /messages/batch: nothing is sent and nothing stored. `errors` is everything that would keep a message
         *     from being taken, `warnings` what may keep it from arriving, and `replayed` the messages that their keys have made already.
         *     `validation` changes nothing. Each message is looked at by itself: limits that only all of them together reach are not found.
         *
         *     It costs as many requests of the key's limit as POST /messages/batch does: one for each message.
         *
         *     Needs a key with the scope `messages:write`.
         */
        post: operations["messages_checkBatch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/messages/check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Check a message before you send it
         * @description The body of POST /messages, without a key: nothing is sent and nothing stored. `problems` is everything that
         *     POST /messages would refuse the message for, each with the code that it would answer; without problems it is
         *     `sendable`. `warnings` is what may keep it from arriving although Herald would take it.
         *
         *     `rendered` is what the recipient would see. `window` is the 24 hours in which the contact may get ordinary messages,
         *     `queue` how many messages of the number leave before this one, and when it would leave. All of it is true at this
         *     moment: it promises nothing. A key without `messages:read` gets neither `conversation_id` nor `window`, nor warnings
         *     that rest on earlier messages of the contact.
         *
         *     A body that fits no variant is 422, as for POST /messages.
         *
         *     Needs a key with the scope `messages:write`.
         */
        post: operations["messages_check"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/opt-outs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List opt-outs
         * @description Who wants no marketing templates, or no messages at all: what WhatsApp reported of each of your numbers,
         *     and what you recorded yourself. Newest first. For the next page pass `next_before` and `next_before_id` of the answer
         *     as `before` and `before_id`; both are null on the last page.
         *
         *     `to` and `recipient` find a person by any name under which your conversations know them. Contacts that were erased
         *     are not listed, and still get no messages.
         *
         *     Needs a key with the scope `messages:read`.
         */
        get: operations["optOuts_list"];
        /**
         * Record an opt-out
         * @description From now on POST /messages refuses messages to this person with 422 `RECIPIENT_OPTED_OUT`, from every number
         *     of the workspace: with the category `marketing` marketing templates, with `all` everything. One-time codes still go.
         *     Scheduled messages fail at their time.
         *
         *     Give exactly one of `to` and `recipient`. One entry a person and category: a repeat answers the same entry, with the
         *     reason that is given. WhatsApp is not told, and what a person chooses in WhatsApp does not change this entry.
         *
         *     Needs a key with the scope `messages:write`.
         */
        put: operations["optOuts_put"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/opt-outs/{id}": {
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
         * Remove an opt-out
         * @description Only one of your own, such as after the person opted in again on your website. What WhatsApp reported ends
         *     when the person opts in again in WhatsApp: 409 `OPT_OUT_NOT_YOURS`.
         *
         *     Needs a key with the scope `messages:write`.
         */
        delete: operations["optOuts_remove"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/otp/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the state of a code
         * @description Reports whether the code was sent, delivered, read and verified; never the code itself.
         *
         *     `verified` and `expired` end any state but `failed`.
         *
         *     Needs a key with the scope `otp:read`.
         */
        get: operations["otp_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/otp/send": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a one-time code
         * @description Makes a code of six digits and sends it over WhatsApp. It is valid for `ttl` seconds and five guesses, and
         *     ends an older code for the same number. A sandbox project sends nothing and answers with `test_code`. A repeat with
         *     the same Idempotency-Key and parameters answers 200 with the same challenge and sends nothing; a send whose outcome
         *     is unknown is never repeated. The same number can be sent another code after 60 seconds.
         *
         *     All calls about codes need a key of an OTP project; that of a workspace answers 403.
         *
         *     Needs a key with the scope `otp:send`.
         */
        post: operations["otp_send"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/otp/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Verify a code
         * @description Takes the `id` of the send and what the user typed; in a sandbox that is `test_code`. Succeeds once for each
         *     code, and takes five guesses. A wrong code, an id that does not exist and one of another project answer
         *     alike: `OTP_CODE_INCORRECT`.
         *
         *     Needs a key with the scope `otp:verify`.
         */
        post: operations["otp_verify"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tags": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List groups of messages
         * @description Every tag that a message was sent with, or that PUT /tags/{tag} made, newest first, with its counts. For the next page
         *     pass `next_before` and `next_before_id` of the answer as `before` and `before_id`; both are null on the last page.
         *
         *     Needs a key with the scope `messages:read`.
         */
        get: operations["tags_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tags/{tag}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read how far a group of messages is
         * @description Counts the messages that were sent with this `tag`, by status, and the failed ones by category. One message
         *     each: GET /messages?tag=.
         *
         *     Needs a key with the scope `messages:read`.
         */
        get: operations["tags_get"];
        /**
         * Make a group of messages before its first one, or change it
         * @description With `paused` the messages that you send with this tag wait until you have looked at them: POST /tags/{tag}/resume
         *     starts them. With `start_at` they go at that time, or at their `send_at` where that is later. Until then no `ttl_seconds` runs.
         *
         *     What the body leaves out stays as it is, so a PUT can be repeated. A tag that got its first message without a PUT has started.
         *
         *     Needs a key with the scope `messages:write`.
         */
        put: operations["tags_put"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tags/{tag}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel what waits of a group of messages
         * @description Everything with this `tag` that waits, also paused or scheduled, fails with `canceled`. A pause ends with it.
         *
         *     Needs a key with the scope `messages:write`.
         */
        post: operations["tags_cancel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tags/{tag}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Pause a group of messages
         * @description Nothing more with this `tag` is taken for sending, nor what you send with it from now on. Other messages keep
         *     order and pace. The times to live go on.
         *
         *     Needs a key with the scope `messages:write`.
         */
        post: operations["tags_pause"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tags/{tag}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resume a paused group of messages
         * @description In the old order, behind what waits by now. What has expired meanwhile fails.
         *
         *     Needs a key with the scope `messages:write`.
         */
        post: operations["tags_resume"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tags/{tag}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Retry the failed messages of a group
         * @description As POST /messages/{id}/retry for each that has failed until now; never those whose outcome is unknown.
         *
         *     Needs a key with the scope `messages:write`.
         */
        post: operations["tags_retry"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Count messages by time
         * @description How many messages were sent and received, how far they came, how long they took, and what they cost. A message
         *     counts in the interval of its submission, whatever happens later.
         *
         *     Figures are counted in the background; `as_of` says up to when, usually less than 30 seconds ago; states of
         *     earlier quarters of an hour follow in minutes, of earlier days in hours where a quarter has very many. They are kept for 25 months.
         *
         *     Each 300 rows of an answer, or 5,000 counts that are read for it, count as one request, at most 34; those that it may cost are held
         *     meanwhile.
         *
         *     Needs a key with the scope `messages:read`.
         */
        get: operations["usage_messages"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/usage/codes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Count one-time codes by time and country
         * @description Of the key's OTP project: how many codes were requested, sent, delivered and verified, and how many expired or
         *     failed. A code counts in the interval of its request.
         *
         *     Needs a key with the scope `otp:read`.
         */
        get: operations["usage_codes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhook": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the webhook and its recent deliveries
         * @description The signing secret is not shown; `secret_hint` distinguishes secrets.
         *
         *     Needs a key with the scope `webhooks:read`.
         */
        get: operations["webhook_get"];
        /**
         * Set the webhook
         * @description A workspace has one webhook. The first call creates it, and only its answer contains the signing `secret`,
         *     which Herald makes where the call brings none; later calls change it and keep the secret, also where the URL changes. A webhook that was disabled works again
         *     after any call that does not pause it, and what waited for it goes out.
         *
         *     What is left out stays as it is; empty `connection_ids` choose all numbers, empty `headers` none.
         *     Headers do not follow the webhook to another scheme, host or port: give them again with such an address.
         *
         *     Deliveries follow Standard Webhooks (standardwebhooks.com): verify each with one of its libraries, from the raw
         *     body. Any 2xx within ten seconds is success. Otherwise the event comes again after 5 s, 30 s, 2 min, 10 min, 30 min,
         *     2 h, 5 h, 10 h and 10 h, each ±20 %, or after the time in `Retry-After` where that is longer, up to an hour. Answer
         *     410 to be disabled at once; five days without one success disable the webhook as well. Redirects are not followed.
         *     The same event may come twice, and events may overtake each other: compare `id` and `data.sequence`.
         *
         *     A workspace has sixty calls at once that make or change its webhook, and one more each minute; beyond that the
         *     answer is 429 with `scope: "webhook_changes"`. Calls that change nothing do not count, and DELETE is always free.
         *
         *     Needs a key with the scope `webhooks:write`.
         */
        put: operations["webhook_put"];
        post?: never;
        /**
         * Delete the webhook
         * @description Events that wait are dropped. A webhook set later has a new secret.
         *
         *     Needs a key with the scope `webhooks:write`.
         */
        delete: operations["webhook_remove"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhook/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List delivery attempts
         * @description Newest first. For the next page pass `next_before` and `next_before_id` of the answer as `before` and
         *     `before_id`; both are null on the last page. Attempts are kept for 30 days, unless the installation says otherwise.
         *
         *     Needs a key with the scope `webhooks:read`.
         */
        get: operations["webhook_deliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhook/deliveries/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a delivery attempt
         * @description One entry of GET /webhook/deliveries, with the `event` that was sent. What your receiver answered is not kept, apart
         *     from its status.
         *
         *     Needs a key with the scope `webhooks:read`.
         */
        get: operations["webhook_delivery"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhook/deliveries/{id}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Deliver an event again
         * @description Queues the event of this delivery attempt once more, under the same `id` and with all its attempts, whether
         *     it was delivered, exhausted or still waits for its next attempt.
         *
         *     Needs a key with the scope `webhooks:write`.
         */
        post: operations["webhook_replay"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhook/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Deliver many events again
         * @description After an outage of your receiver: all events of which an attempt was made in a time are queued once more,
         *     the oldest first, each under the same `id` and with all its attempts. The answer comes at once; follow the task with
         *     GET /webhook/replay/{id}. It survives restarts of Herald.
         *
         *     Fresh events do not wait for it: it adds to your webhook's queue only while few events are due there, and never
         *     exceeds what your receiver takes. While the webhook is paused or disabled it waits, three days at the most. One
         *     replay runs at a time (409), with at most 100,000 events (422: choose a shorter time, and one after the other). Events
         *     count whose attempts are kept, delivered or not. For 10 seconds after such a 422 the answer is 429, with
         *     `scope: "webhook_replay"`.
         *
         *     Needs a key with the scope `webhooks:write`.
         */
        post: operations["replays_start"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhook/replay/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read how far a replay is
         * @description Replays are kept for as long as attempts to deliver are, 30 days unless the installation says otherwise.
         *
         *     Needs a key with the scope `webhooks:read`.
         */
        get: operations["replays_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhook/rotate-secret": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replace the signing secret
         * @description The new `secret` is shown only once, in this answer. For 24 hours every delivery is signed with the
         *     replaced secret as well, so that you can change over without losing one. A workspace has twenty rotations at once
         *     and one more each three minutes; beyond that the answer is 429 with `scope: "webhook_changes"`.
         *
         *     Needs a key with the scope `webhooks:write`.
         */
        post: operations["webhook_rotateSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhook/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a test event
         * @description A `webhook.test` event takes the way of all events: signed, repeated, logged. It is sent whatever kinds
         *     the webhook has chosen. Find its outcome by `event_id` in GET /webhook/deliveries.
         *
         *     With `type` the event is one of that kind, so that you can try how your receiver takes it: its data is the example
         *     of this description, marked by `test: true`.
         *
         *     Needs a key with the scope `webhooks:write`.
         */
        post: operations["webhook_test"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhook/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Check the receiver
         * @description Posts everything that may ever come to the address of the webhook, and says what the receiver did wrong and how to mend
         *     it: an event of each kind, repeats, events out of order, two signatures as after a rotation, a large body, kinds and fields that do
         *     not exist yet, and forgeries, which it must refuse: another secret, a changed body, no signature, a time that is too
         *     old or ahead. Every event has `test: true` in its data.
         *
         *     The deliveries are made at once, each with the limits and the checks of the address that all deliveries have, also while the
         *     webhook is paused; they are not in GET /webhook/deliveries, and change nothing about the webhook. The answer comes within 25
         *     seconds; what was not tried by then is `not_run`. A workspace has three runs at once and one more each minute; beyond that the
         *     answer is 429 with `scope: "webhook_verify"`.
         *
         *     Needs a key with the scope `webhooks:write`.
         */
        post: operations["webhook_verify"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface webhooks {
    "call.ended": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A call ended
         * @description Sent for calls that were answered, and for those of the business.
         */
        post: operations["on_call_ended"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "call.missed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A call of a customer was not answered
         * @description Sent when a call of a customer ends that was not answered.
         */
        post: operations["on_call_missed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "connection.updated": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A number changed
         * @description Sent where anything changes of what GET /connections shows of it: status, quality, limits, name.
         */
        post: operations["on_connection_updated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "contact.opt_out.updated": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A person opted out, or in again
         * @description Sent where an opt-out begins or ends: by what the person chose in WhatsApp, by a message that WhatsApp refused for it, by a keyword, and by PUT and DELETE /opt-outs.
         */
        post: operations["on_contact_opt_out_updated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "conversation.control.updated": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A conversation has another owner
         * @description Sent on each change of who may send ordinary messages: control was passed, taken or released, or a message shows it. The first message of a contact to you makes none; `message.received` says `owner`.
         */
        post: operations["on_conversation_control_updated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "conversation.updated": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A conversation was closed, opened or assigned
         * @description Sent where `closed`, `assignee` or `assignee_id` of a conversation changes: by PATCH /conversations/{id}, or because the customer of a closed one wrote.
         */
        post: operations["on_conversation_updated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "destination.events_lost": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * An event destination lost events
         * @description Sent where events were not written to a destination before their time was over, or are too large for it; for each destination once an hour at the most.
         */
        post: operations["on_destination_events_lost"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "media.failed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A customer's file will not come
         * @description Sent once Herald has given up fetching it; until then it tries for seven days.
         */
        post: operations["on_media_failed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "media.ready": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A customer's file can be downloaded
         * @description Sent for each file that came with a message, once Herald has fetched it from WhatsApp.
         */
        post: operations["on_media_ready"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "message.received": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A customer wrote
         * @description Sent for each inbound message, once it stands in the journal.
         */
        post: operations["on_message_received"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "message.sent_elsewhere": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * The business wrote in the WhatsApp Business app
         * @description Sent for each message that the business sends in the app, or on a device linked to it, from a number that is in the app and here. No `message.status.updated` follows for it; GET /messages/{id} has its status.
         */
        post: operations["on_message_sent_elsewhere"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "message.standby.received": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A customer wrote to another app
         * @description Sent instead of `message.received` where another app owns the conversation and WhatsApp shows its messages to you as an observer. An answer of yours would fail.
         */
        post: operations["on_message_standby_received"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "message.status.updated": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A sent message came to another state
         * @description Sent for accepted, sent, delivered, read, failed and outcome_unknown.
         */
        post: operations["on_message_status_updated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "payment.updated": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A payment came to another state
         * @description Sent for payments of orders that a message of yours has.
         */
        post: operations["on_payment_updated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "platform.error": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * WhatsApp reported trouble that belongs to no message
         * @description Sent as it comes; WhatsApp may repeat it.
         */
        post: operations["on_platform_error"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "template.category.updated": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A template came to another category, or will
         * @description Sent for each language of a template when the platform announces another category, some 24 hours ahead, and when the category has changed. It decides what a message costs, and whether a person may have opted out of it.
         */
        post: operations["on_template_category_updated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "template.status.updated": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A template came to another status
         * @description Sent for each language of a template whose status becomes another one: by the review of the platform, by a change of yours, or because it is new or deleted. Herald reports what it learns from notifications at once, and what it learns from its hourly look at the list then.
         */
        post: operations["on_template_status_updated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "webhook.test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A test
         * @description Sent by POST /webhook/test, whatever kinds the webhook has chosen.
         */
        post: operations["on_webhook_test"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "workspace.limit.reached": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A limit of the workspace is nearly, or wholly, reached
         * @description Sent once in each period at 80 and once at 100 per cent; beyond it POST /messages answers 429, or 402 where it is about money.
         */
        post: operations["on_workspace_limit_reached"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface components {
    schemas: {
        AttemptResponse: {
            /** @example null */
            failure_category: components["schemas"]["FailureCategory"] | null;
            /**
             * Format: date-time
             * @example 2026-11-21T08:00:00.125Z
             */
            finished_at: string | null;
            /** @example 200 */
            http_status: number | null;
            /** @example wamid.HBgLMTU1NTAxMDAwMDEVAgARGBI5QTNDQTVCM0Q0Q0Q2RTY3RTcA */
            meta_message_id: string | null;
            /** @example 1 */
            number: number;
            /** @example null */
            platform_code: number | null;
            /** @example null */
            platform_message: string | null;
            /**
             * Format: date-time
             * @example 2026-11-21T08:00:00.125Z
             */
            started_at: string;
            /**
             * @example accepted
             * @enum {string}
             */
            status: "started" | "accepted" | "rejected" | "deferred" | "unknown";
            /**
             * @description The platform's own id of the failed call, for its support.
             * @example null
             */
            trace_id: string | null;
        };
        BatchCheckResponse: {
            data: components["schemas"]["CheckedBatch"];
            /** @example [] */
            errors: ({
                code: string;
                details: components["schemas"]["ErrorDetail"][];
                index: number;
                message: string;
            } & {
                [key: string]: unknown;
            })[];
            replayed: components["schemas"]["ReplayedMessage"][];
            warnings: components["schemas"]["BatchWarning"][];
        };
        BatchedMessage: {
            /**
             * Format: uuid
             * @example 01936f6e-2b5c-7c2e-9d8a-3f1b2a4c5d6e
             */
            id: string;
            /** @example 0 */
            index: number;
            /** @example false */
            replayed: boolean;
            /**
             * @example queued
             * @enum {string}
             */
            status: "queued";
        };
        /** BatchKey */
        BatchKey: {
            /**
             * Format: uuid
             * @description A UUID for each message that you mean to send, another one for each message of the batch.
             */
            idempotency_key: string;
        };
        /** BatchMessage */
        BatchMessage: components["schemas"]["SendMessage"] & components["schemas"]["BatchKey"];
        BatchWarning: {
            /** @example TEMPLATE_QUALITY_LOW */
            code: components["schemas"]["WarningCode"];
            /** @example template.name */
            field?: string;
            /** @example 0 */
            index: number;
            /** @example WhatsApp rates the quality of this template YELLOW; it pauses templates whose quality stays low, and then refuses them. */
            message: string;
        };
        /** CallEndedEvent */
        CallEndedEvent: {
            /**
             * Format: date-time
             * @description When the reported change happened.
             */
            created_at: string;
            /** @description For `after` of GET /events. */
            cursor: string;
            data: {
                call: {
                    /** @enum {string} */
                    direction: "inbound" | "outbound";
                    duration_seconds: number | null;
                    id: string | null;
                    /**
                     * Format: date-time
                     * @description Null: it was not answered.
                     */
                    started_at: string | null;
                    status: string | null;
                };
                /** Format: uuid */
                connection_id: string;
                contact: {
                    phone: string | null;
                    user_id: string | null;
                };
                /** Format: date-time */
                occurred_at: string;
                /**
                 * @description Only where POST /webhook/test or /webhook/verify made it: an example.
                 * @constant
                 */
                test?: true;
            };
            /**
             * Format: uuid
             * @description The same for all attempts.
             */
            id: string;
            /** Format: uuid */
            organization_id: string;
            /** @constant */
            type: "call.ended";
        };
        /** CallMissedEvent */
        CallMissedEvent: {
            /**
             * Format: date-time
             * @description When the reported change happened.
             */
            created_at: string;
            /** @description For `after` of GET /events. */
            cursor: string;
            data: {
                call: {
                    /** @enum {string} */
                    direction: "inbound" | "outbound";
                    duration_seconds: number | null;
                    id: string | null;
                    /**
                     * Format: date-time
                     * @description Null: it was not answered.
                     */
                    started_at: string | null;
                    status: string | null;
                };
                /** Format: uuid */
                connection_id: string;
                contact: {
                    phone: string | null;
                    user_id: string | null;
                };
                /** Format: date-time */
                occurred_at: string;
                /**
                 * @description Only where POST /webhook/test or /webhook/verify made it: an example.
                 * @constant
                 */
                test?: true;
            };
            /**
             * Format: uuid
             * @description The same for all attempts.
             */
            id: string;
            /** Format: uuid */
            organization_id: string;
            /** @constant */
            type: "call.missed";
        };
        CanceledMessage: {
            /**
             * Format: uuid
             * @example 01936f6e-5e8f-7f5b-9a1d-6c4e5d7f8091
             */
            id: string;
            /**
             * @example failed
             * @enum {string}
             */
            status: "queued" | "processing" | "accepted" | "sent" | "delivered" | "read" | "failed" | "outcome_unknown" | "received";
        };
        CanceledMessageResponse: {
            data: components["schemas"]["CanceledMessage"];
        };
        ChangeDestinationRequest: {
            /**
             * @description With `false` events wait in Herald, as long as it keeps them, and are written once it is `true` again.
             * @example true
             */
            active?: boolean;
            /**
             * @description Numbers whose events to write, as for the webhook; empty: all. Events about no number are written in any case.
             * @example [
             *       "01936f6d-0a1b-7f00-8c11-5a6b7c8d9e0f"
             *     ]
             */
            connection_ids?: string[];
            /**
             * @description Kinds of event to write. Left out of a new destination: the two about messages.
             * @example [
             *       "message.received"
             *     ]
             */
            events?: ("message.received" | "message.status.updated" | "message.standby.received" | "message.sent_elsewhere" | "conversation.control.updated" | "conversation.updated" | "template.status.updated" | "template.category.updated" | "media.ready" | "media.failed" | "connection.updated" | "contact.opt_out.updated" | "workspace.limit.reached" | "payment.updated" | "call.missed" | "call.ended" | "platform.error" | "destination.events_lost")[];
            /**
             * @description Names it for people; each of the workspace has another one.
             * @example orders
             */
            name?: string;
            /** @description NATS JetStream. The settings as a whole; secrets that are left out stay, unless host or port change. */
            nats?: components["schemas"]["NatsRequest"];
            /** @description RabbitMQ. The settings as a whole; secrets that are left out stay, unless host or port change. */
            rabbitmq?: components["schemas"]["RabbitmqRequest"];
            /** @description Amazon SQS. The settings as a whole; secrets that are left out stay, unless the host changes. */
            sqs?: components["schemas"]["SqsRequest"];
        };
        CheckedBatch: {
            /** @example 2 */
            messages: number;
            /** @example 1 */
            sendable: number;
        };
        CheckedLimit: {
            /** @example EUR */
            currency?: string;
            /**
             * @example messages_per_day
             * @enum {string}
             */
            kind: "messages_per_day" | "spend_per_month" | "marketing_per_recipient_per_week";
            /** @example 1000 */
            limit: number | string;
            /** @example 750 */
            remaining: number | string;
            /**
             * Format: date-time
             * @example 2026-11-22T00:00:00.000Z
             */
            renews_at: string;
            /** @example 250 */
            used: number | string;
        };
        CheckedQueue: {
            /** @example 0 */
            ahead: number;
            /**
             * Format: date-time
             * @example 2026-11-21T08:00:00.125Z
             */
            estimated_send_at: string | null;
        };
        CheckedWindow: {
            /**
             * Format: date-time
             * @example 2026-11-22T07:12:00.000Z
             */
            closes_at: string | null;
            /** @example true */
            open: boolean;
        };
        CheckWarningResponse: {
            /** @example TEMPLATE_QUALITY_LOW */
            code: components["schemas"]["WarningCode"];
            /** @example template.name */
            field?: string;
            /** @example WhatsApp rates the quality of this template YELLOW; it pauses templates whose quality stays low, and then refuses them. */
            message: string;
        };
        CodeFiguresResponse: {
            /** @example 411 */
            delivered: number;
            /** @example 41 */
            expired: number;
            /** @example 2 */
            failed: number;
            /**
             * @description What POST /otp/send took.
             * @example 420
             */
            requested: number;
            /** @example 418 */
            sent: number;
            /** @example 377 */
            verified: number;
        };
        CodeRowResponse: {
            /**
             * @description ISO 3166 alpha-2; null: the number was erased before it was counted.
             * @example DE
             */
            country: string | null;
            /** @example 411 */
            delivered: number;
            /** @example 41 */
            expired: number;
            /** @example 2 */
            failed: number;
            /**
             * @description What POST /otp/send took.
             * @example 420
             */
            requested: number;
            /** @example 418 */
            sent: number;
            /**
             * Format: date-time
             * @description Where the interval begins, with the offset of the time zone.
             * @example 2026-11-21T00:00:00.000Z
             */
            start: string;
            /** @example 377 */
            verified: number;
        };
        CodeUsageResponse: {
            /**
             * Format: date-time
             * @description Up to when everything is counted; null: nothing is yet.
             * @example 2026-11-21T00:00:00.000Z
             */
            as_of: string | null;
            /** @description The oldest interval first; those without codes are left out. */
            data: components["schemas"]["CodeRowResponse"][];
            /** @description All rows together. */
            totals: components["schemas"]["CodeFiguresResponse"];
        };
        ConfigureWebhookRequest: {
            /**
             * @description With `false` events wait, three days at the most, and go out once it is `true` again. Left out: as it is; `true` for a new webhook.
             * @example true
             */
            active?: boolean;
            /**
             * @description Numbers whose events to send; empty: all. An event about several numbers, such as one of a template, is sent where one
             *     of them is chosen; one about none is sent in any case. Left out: all for a new webhook; those that it has for an
             *     existing one.
             * @example [
             *       "01936f6d-0a1b-7f00-8c11-5a6b7c8d9e0f"
             *     ]
             */
            connection_ids?: string[];
            /**
             * @description Kinds of event to send. Left out: the two about messages for a new webhook; those that it has for an existing one.
             * @example [
             *       "message.received",
             *       "message.status.updated",
             *       "message.standby.received",
             *       "message.sent_elsewhere",
             *       "conversation.control.updated",
             *       "conversation.updated",
             *       "template.status.updated",
             *       "template.category.updated",
             *       "media.ready",
             *       "media.failed",
             *       "connection.updated",
             *       "contact.opt_out.updated",
             *       "workspace.limit.reached",
             *       "payment.updated",
             *       "call.missed",
             *       "call.ended",
             *       "platform.error",
             *       "destination.events_lost"
             *     ]
             */
            events?: ("message.received" | "message.status.updated" | "message.standby.received" | "message.sent_elsewhere" | "conversation.control.updated" | "conversation.updated" | "template.status.updated" | "template.category.updated" | "media.ready" | "media.failed" | "connection.updated" | "contact.opt_out.updated" | "workspace.limit.reached" | "payment.updated" | "call.missed" | "call.ended" | "platform.error" | "destination.events_lost")[];
            /**
             * @description Headers to send with every delivery beside ours, such as a key of your gateway: names `X-...` or `Authorization`, values
             *     of visible ASCII, 4,096 characters in all. Stored encrypted and never shown again. Left out: those that the webhook
             *     has, unless its address gets another scheme, host or port.
             * @example {
             *       "X-Environment": "production"
             *     }
             */
            headers?: {
                [key: string]: string;
            };
            /**
             * @description The signing secret of a new webhook, for deployments that know it beforehand: `whsec_` and the base64 of 24 to 64 random
             *     bytes. Left out: Herald makes one. An existing webhook keeps its secret: the same one is accepted, another is 400; replace
             *     it with POST /webhook/rotate-secret.
             * @example whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=
             */
            secret?: string;
            /**
             * Format: uri
             * @description Where events are posted to: https, port 443, a host name that leads to public addresses only.
             * @example https://shop.example.com/whatsapp/events
             */
            url: string;
        };
        ConformanceData: {
            /**
             * @description False: the run ended before all was tried.
             * @example true
             */
            complete: boolean;
            /**
             * @description Of the whole run.
             * @example 840
             */
            duration_ms: number;
            /**
             * @description Whether each result is `passed`.
             * @example false
             */
            passed: boolean;
            /** @description One for each delivery, in the order in which they were made; always the same ones. */
            results: components["schemas"]["ConformanceResultResponse"][];
        };
        ConformanceResponse: {
            data: components["schemas"]["ConformanceData"];
        };
        ConformanceResultResponse: {
            /**
             * @description What was tried.
             * @example wrong_secret
             * @enum {string}
             */
            check: "kind" | "repeat" | "disorder" | "rotated_secret" | "later_version" | "any_text" | "large" | "unknown_kind" | "unknown_field" | "unknown_content" | "wrong_secret" | "changed_body" | "no_signature" | "old_timestamp" | "future_timestamp";
            /** @example 12 */
            duration_ms: number | null;
            /**
             * @description Why no answer came, in a short word, as in GET /webhook/deliveries.
             * @example null
             */
            error: string | null;
            /**
             * @description Kind of the event that was sent; one that does not exist is among them.
             * @example webhook.test
             */
            event_type: string;
            /**
             * @description `success`: the receiver has to answer 2xx. `refusal`: anything else, for it is a forgery.
             * @example refusal
             * @enum {string}
             */
            expected: "success" | "refusal";
            /**
             * @description What has to change in the receiver.
             * @example Verify the signature of each delivery with the secret of the webhook, and answer 401 where it is not right.
             */
            fix: string | null;
            /**
             * @description Null where no answer came.
             * @example 200
             */
            http_status: number | null;
            /**
             * @description `not_run`: the run ended before it, as its time was over or the receiver did not answer.
             * @example failed
             * @enum {string}
             */
            outcome: "passed" | "failed" | "not_run";
            /**
             * @description What the receiver did wrong; null where it did not.
             * @example It was answered 200, as if Herald had sent it.
             */
            problem: string | null;
            /**
             * @description The same in words.
             * @example Signed with another secret
             */
            title: string;
        };
        ConnectionListResponse: {
            data: components["schemas"]["ConnectionResponse"][];
        };
        ConnectionResponse: {
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
        };
        /** ConnectionUpdatedEvent */
        ConnectionUpdatedEvent: {
            /**
             * Format: date-time
             * @description When the reported change happened.
             */
            created_at: string;
            /** @description For `after` of GET /events. */
            cursor: string;
            data: {
                /** @description As GET /connections shows it. */
                connection: {
                    /** Format: date-time */
                    created_at: string;
                    /** Format: uuid */
                    id: string;
                    /** @enum {string} */
                    marketing_route: "auto" | "messages";
                    marketing_status: string | null;
                    messaging_limit: string | null;
                    phone_number: string;
                    quality_rating: string | null;
                    /**
                     * Format: date-time
                     * @description When the free service messages of a month were used up last.
                     */
                    service_charged_since: string | null;
                    /** @enum {string} */
                    status: "connected" | "pending" | "disconnected" | "restricted";
                    /** @enum {string|null} */
                    status_reason: "token_refused" | "disconnected_by_operator" | "platform" | "account_removed" | "payment_missing" | null;
                    throughput_per_second: number;
                    timezone: string | null;
                    verified_name: string | null;
                };
                /** @description What changed, with the values from before. */
                previous_attributes: {
                    /** @enum {string} */
                    marketing_route?: "auto" | "messages";
                    marketing_status?: string | null;
                    messaging_limit?: string | null;
                    phone_number?: string;
                    quality_rating?: string | null;
                    /**
                     * Format: date-time
                     * @description When the free service messages of a month were used up last.
                     */
                    service_charged_since?: string | null;
                    /** @enum {string} */
                    status?: "connected" | "pending" | "disconnected" | "restricted";
                    /** @enum {string|null} */
                    status_reason?: "token_refused" | "disconnected_by_operator" | "platform" | "account_removed" | "payment_missing" | null;
                    throughput_per_second?: number;
                    timezone?: string | null;
                    verified_name?: string | null;
                };
                /**
                 * @description Only where POST /webhook/test or /webhook/verify made it: an example.
                 * @constant
                 */
                test?: true;
            };
            /**
             * Format: uuid
             * @description The same for all attempts.
             */
            id: string;
            /** Format: uuid */
            organization_id: string;
            /** @constant */
            type: "connection.updated";
        };
        /** ContactOptOutUpdatedEvent */
        ContactOptOutUpdatedEvent: {
            /**
             * Format: date-time
             * @description When the reported change happened.
             */
            created_at: string;
            /** @description For `after` of GET /events. */
            cursor: string;
            data: {
                /**
                 * @description Marketing templates, or every message.
                 * @enum {string}
                 */
                category: "marketing" | "all";
                /**
                 * Format: uuid
                 * @description The number that it is about; null: all numbers of the workspace, as with its own entries.
                 */
                connection_id: string | null;
                contact: {
                    phone: string | null;
                    user_id: string | null;
                };
                /**
                 * Format: date-time
                 * @description By the platform, in whole seconds, or when Herald recorded it.
                 */
                occurred_at: string;
                /**
                 * Format: uuid
                 * @description Of GET /opt-outs.
                 */
                opt_out_id: string;
                /** @description False: the entry has ended; another one may still hold. */
                opted_out: boolean;
                reason: string | null;
                /**
                 * @description Recorded by the workspace, or reported by WhatsApp.
                 * @enum {string}
                 */
                source: "own" | "platform";
                /**
                 * @description Only where POST /webhook/test or /webhook/verify made it: an example.
                 * @constant
                 */
                test?: true;
            };
            /**
             * Format: uuid
             * @description The same for all attempts.
             */
            id: string;
            /** Format: uuid */
            organization_id: string;
            /** @constant */
            type: "contact.opt_out.updated";
        };
        ContactResponse: {
            /** @example Ana Lima */
            name: string | null;
            /** @example 15550100001 */
            phone: string | null;
            /**
             * @description The platform's business-scoped id of a contact who may hide the number.
             * @example null
             */
            user_id: string | null;
        };
        ControlledConversation: {
            /**
             * Format: uuid
             * @example 01936f6d-9a1b-7f00-8c11-5a6b7c8d9e0f
             */
            id: string;
            /**
             * @example other
             * @enum {string}
             */
            owner: "you" | "other" | "unknown";
            /** @example ai_agent */
            owner_role: string | null;
        };
        ControlledConversationResponse: {
            data: components["schemas"]["ControlledConversation"];
        };
        ControlRequest: {
            /**
             * @description `pass`: another app becomes the owner. `release`: none is, until the contact writes again. `take`: you become the
             *     owner, which WhatsApp allows to the escalation partner only.
             * @example pass
             * @enum {string}
             */
            action: "pass" | "release" | "take";
            /**
             * @description For the new owner; it is in its notification.
             * @example Asks for a refund of order 4711.
             */
            note?: string;
            /**
             * @description With `pass`: the role that becomes the owner, such as `ai_agent`; without it WhatsApp chooses.
             * @example ai_agent
             */
            role?: string;
        };
        ConversationContactResponse: {
            /** @example Ana Lima */
            name: string | null;
            /** @example 15550100001 */
            phone: string | null;
            /**
             * @description What the contact was named before; a message to one of these goes to the present number or user id. Missing where
             *     WhatsApp reported no change.
             */
            previous?: components["schemas"]["PreviousNamesResponse"];
            /**
             * @description The platform's business-scoped id of a contact who may hide the number.
             * @example null
             */
            user_id: string | null;
        };
        /** ConversationControlUpdatedEvent */
        ConversationControlUpdatedEvent: {
            /**
             * Format: date-time
             * @description When the reported change happened.
             */
            created_at: string;
            /** @description For `after` of GET /events. */
            cursor: string;
            data: {
                /** Format: uuid */
                connection_id: string;
                contact: {
                    name: string | null;
                    phone: string | null;
                    user_id: string | null;
                };
                /** @description A summary of the conversation, or its last messages, in the terms of WhatsApp. */
                context: {
                    [key: string]: unknown;
                } | null;
                /** Format: uuid */
                conversation_id: string;
                /** @description What the former owner wrote to the new one. */
                note: string | null;
                /**
                 * Format: date-time
                 * @description By WhatsApp, in whole seconds: of several events of a conversation the latest counts.
                 */
                occurred_at: string;
                /**
                 * @description Who may send ordinary messages from now on.
                 * @enum {string}
                 */
                owner: "you" | "other" | "unknown";
                /** @description Of another app: customer_service, marketing, utility, ctwa, ai_agent, escalation, or a later one; null where it is not known. */
                owner_role: string | null;
                /** @enum {string} */
                previous_owner: "you" | "other" | "unknown";
                previous_owner_role: string | null;
                /**
                 * @description Only where POST /webhook/test or /webhook/verify made it: an example.
                 * @constant
                 */
                test?: true;
            };
            /**
             * Format: uuid
             * @description The same for all attempts.
             */
            id: string;
            /** Format: uuid */
            organization_id: string;
            /** @constant */
            type: "conversation.control.updated";
        };
        ConversationResponse: {
            /**
             * @description Who looks after it, in your own words, as set with PATCH /conversations/{id}; null where that is not said.
             * @example ana@example.com
             */
            assignee: string | null;
            /**
             * Format: uuid
             * @description The person who was chosen by `assignee_id`; null where only a text was given. Kept where the person is no member any more.
             * @example 01936f75-3e4f-7d50-8162-7c8d9e0f1a2b
             */
            assignee_id?: string | null;
            /**
             * @description Set with PATCH /conversations/{id}; the next message of the customer makes it false. It keeps nothing from being sent.
             * @example false
             */
            closed: boolean;
            /**
             * Format: uuid
             * @example 01936f6d-0a1b-7f00-8c11-5a6b7c8d9e0f
             */
            connection_id: string;
            contact: components["schemas"]["ConversationContactResponse"];
            /**
             * Format: date-time
             * @example 2026-11-21T08:00:00.125Z
             */
            created_at: string;
            /**
             * Format: uuid
             * @example 01936f6d-9a1b-7f00-8c11-5a6b7c8d9e0f
             */
            id: string;
            /**
             * Format: date-time
             * @description When the contact last wrote to you or called; null where that never happened.
             * @example 2026-11-21T08:00:00.125Z
             */
            last_inbound_at: string | null;
            /** @description The newest message, in either direction; null where the contact has called only. */
            last_message: components["schemas"]["MessageListItem"] | null;
            /**
             * @description Who may send ordinary messages, where several apps answer on this number: `you`, another app (`other`), or `unknown`, as of
             *     the last notification. Templates may be sent by all. See `conversation.control.updated`.
             * @example you
             * @enum {string}
             */
            owner: "you" | "other" | "unknown";
            /**
             * @description Of the other app: `customer_service`, `marketing`, `utility`, `ctwa`, `ai_agent`, `escalation`, or a later role; null
             *     where it is not known, or you are the owner.
             * @example null
             */
            owner_role: string | null;
            /**
             * Format: date-time
             * @description Until then ordinary messages may be sent; in the past, or null: only templates.
             * @example 2026-11-22T08:00:00.125Z
             */
            service_window_closes_at: string | null;
            /**
             * @description Messages of the contact after the newest one that was marked as read with POST /messages/{id}/read; 100 means 100 or
             *     more. Reactions, corrections, withdrawals and what was written to another app are not counted. An answer alone marks nothing as read.
             * @example 1
             */
            unread_count: number;
            /**
             * Format: date-time
             * @description When the last message was taken or received: lists are in this order.
             * @example 2026-11-21T08:00:00.125Z
             */
            updated_at: string;
        };
        ConversationsResponse: {
            data: components["schemas"]["ConversationResponse"][];
            pagination: components["schemas"]["JournalPagination"];
        };
        /** ConversationUpdatedEvent */
        ConversationUpdatedEvent: {
            /**
             * Format: date-time
             * @description When the reported change happened.
             */
            created_at: string;
            /** @description For `after` of GET /events. */
            cursor: string;
            data: {
                assignee: string | null;
                /**
                 * Format: uuid
                 * @description The person, where one was chosen by `assignee_id`.
                 */
                assignee_id?: string | null;
                /**
                 * @description A request, or a message of the customer.
                 * @enum {string}
                 */
                cause: "request" | "message";
                closed: boolean;
                /** Format: uuid */
                connection_id: string;
                contact: {
                    name: string | null;
                    phone: string | null;
                    user_id: string | null;
                };
                /** Format: uuid */
                conversation_id: string;
                /**
                 * Format: date-time
                 * @description When it changed here.
                 */
                occurred_at: string;
                previous_assignee: string | null;
                /** Format: uuid */
                previous_assignee_id?: string | null;
                previous_closed: boolean;
                /**
                 * @description Only where POST /webhook/test or /webhook/verify made it: an example.
                 * @constant
                 */
                test?: true;
            };
            /**
             * Format: uuid
             * @description The same for all attempts.
             */
            id: string;
            /** Format: uuid */
            organization_id: string;
            /** @constant */
            type: "conversation.updated";
        };
        CostResponse: {
            /** @example 12.4410 */
            amount: string;
            /** @example EUR */
            currency: string;
        };
        CreateDestinationRequest: {
            /**
             * @description With `false` events wait in Herald, as long as it keeps them, and are written once it is `true` again.
             * @example true
             */
            active?: boolean;
            /**
             * @description Numbers whose events to write, as for the webhook; empty: all. Events about no number are written in any case.
             * @example [
             *       "01936f6d-0a1b-7f00-8c11-5a6b7c8d9e0f"
             *     ]
             */
            connection_ids?: string[];
            /**
             * @description Kinds of event to write. Left out of a new destination: the two about messages.
             * @example [
             *       "message.received"
             *     ]
             */
            events?: ("message.received" | "message.status.updated" | "message.standby.received" | "message.sent_elsewhere" | "conversation.control.updated" | "conversation.updated" | "template.status.updated" | "template.category.updated" | "media.ready" | "media.failed" | "connection.updated" | "contact.opt_out.updated" | "workspace.limit.reached" | "payment.updated" | "call.missed" | "call.ended" | "platform.error" | "destination.events_lost")[];
            /**
             * @description Names it for people; each of the workspace has another one.
             * @example orders
             */
            name: string;
            /** @description NATS JetStream. The settings as a whole; secrets that are left out stay, unless host or port change. */
            nats?: components["schemas"]["NatsRequest"];
            /** @description RabbitMQ. The settings as a whole; secrets that are left out stay, unless host or port change. */
            rabbitmq?: components["schemas"]["RabbitmqRequest"];
            /** @description Amazon SQS. The settings as a whole; secrets that are left out stay, unless the host changes. */
            sqs?: components["schemas"]["SqsRequest"];
        };
        /** CreateTemplate */
        CreateTemplate: components["schemas"]["CreateTemplateFromBody"] | components["schemas"]["CreateTemplateFromComponents"];
        /**
         * CreateTemplateFromBody
         * @description A template of one text.
         */
        CreateTemplateFromBody: {
            /** @description The text, with variables `{{1}}`, `{{2}}` ... */
            body: string;
            /**
             * @description In either case.
             * @enum {string}
             */
            category: "UTILITY" | "MARKETING" | "AUTHENTICATION";
            /**
             * @description The platform's code of the language, such as `en_US` or `de`.
             * @example en_US
             */
            language: string;
            /**
             * @description Seconds that a message of this template may wait for its delivery: 30 to 900 for `AUTHENTICATION`, 30 to 43200 for
             *     `UTILITY`, 43200 to 2592000 for `MARKETING`; -1 is 30 days, except for `MARKETING`. Default: the platform's.
             * @example 3600
             */
            message_send_ttl_seconds?: number;
            /**
             * @description Small letters, digits and underscores.
             * @example order_update
             */
            name: string;
            /**
             * @description `NAMED` for variables such as `{{first_name}}`; default `POSITIONAL`. In either case.
             * @enum {string}
             */
            parameter_format?: "POSITIONAL" | "NAMED";
            /** @description One example for each variable of `body`, in their order. */
            variable_examples?: string[];
        };
        /**
         * CreateTemplateFromComponents
         * @description A template of components in the platform's own format.
         */
        CreateTemplateFromComponents: {
            /**
             * @description In either case.
             * @enum {string}
             */
            category: "UTILITY" | "MARKETING" | "AUTHENTICATION";
            /** @description The parts of the template, in the platform's own format. */
            components: ({
                /** @enum {string} */
                type: "HEADER" | "BODY" | "FOOTER" | "BUTTONS" | "CAROUSEL" | "LIMITED_TIME_OFFER";
            } & {
                [key: string]: unknown;
            })[];
            /**
             * @description The platform's code of the language, such as `en_US` or `de`.
             * @example en_US
             */
            language: string;
            /**
             * @description Seconds that a message of this template may wait for its delivery: 30 to 900 for `AUTHENTICATION`, 30 to 43200 for
             *     `UTILITY`, 43200 to 2592000 for `MARKETING`; -1 is 30 days, except for `MARKETING`. Default: the platform's.
             * @example 3600
             */
            message_send_ttl_seconds?: number;
            /**
             * @description Small letters, digits and underscores.
             * @example order_update
             */
            name: string;
            /**
             * @description `NAMED` for variables such as `{{first_name}}`; default `POSITIONAL`. In either case.
             * @enum {string}
             */
            parameter_format?: "POSITIONAL" | "NAMED";
        };
        CurrentResponse: {
            /** @example Is my table ready at eight? */
            body: string | null;
            /**
             * @example {
             *       "body": "Is my table ready at eight?"
             *     }
             */
            content: components["schemas"]["ReceivedContent"];
        };
        DeletedTemplate: {
            /**
             * @example [
             *       "de",
             *       "en_US"
             *     ]
             */
            deleted_languages: string[];
            /** @example order_update */
            name: string;
        };
        DeletedTemplateResponse: {
            data: components["schemas"]["DeletedTemplate"];
        };
        DeliveriesResponse: {
            data: components["schemas"]["DeliveryResponse"][];
            pagination: components["schemas"]["PaginationResponse"];
        };
        DeliveryResponse: {
            /**
             * @description 1 for the first attempt of the event.
             * @example 1
             */
            attempt: number;
            /**
             * Format: date-time
             * @description When the attempt began.
             * @example 2026-11-21T08:00:01.250Z
             */
            created_at: string;
            /** @example 184 */
            duration_ms: number | null;
            /**
             * @description What went wrong, in a short word: `http_503`, `timeout`, `connection_refused`, `interrupted` and so on.
             *     `secret_unreadable`: Herald lacks the key that opens the signing secret; its operator has to give it back, or
             *     rotate-secret makes another one.
             * @example http_503
             */
            error: string | null;
            /**
             * Format: uuid
             * @description The same for all attempts of an event; also the header `webhook-id`.
             * @example 01936f70-1c3d-7a55-9e21-0b1c2d3e4f5a
             */
            event_id: string;
            /**
             * @example message.status.updated
             * @enum {string}
             */
            event_type: "message.received" | "message.status.updated" | "message.standby.received" | "message.sent_elsewhere" | "conversation.control.updated" | "conversation.updated" | "template.status.updated" | "template.category.updated" | "media.ready" | "media.failed" | "connection.updated" | "contact.opt_out.updated" | "workspace.limit.reached" | "payment.updated" | "call.missed" | "call.ended" | "platform.error" | "destination.events_lost" | "webhook.test";
            /**
             * @description Null where no answer came.
             * @example 503
             */
            http_status: number | null;
            /**
             * Format: uuid
             * @example 01936f70-4d2e-7b10-8f3a-6c7d8e9f0a1b
             */
            id: string;
            /**
             * Format: date-time
             * @description When the next attempt was planned for as this one ended; null where it was the last.
             * @example 2026-11-21T08:00:06.420Z
             */
            next_attempt_at: string | null;
            /**
             * @description `succeeded`: any 2xx within ten seconds.
             * @example failed
             * @enum {string}
             */
            status: "succeeded" | "failed";
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
        DeliveryWithEvent: {
            /**
             * @description 1 for the first attempt of the event.
             * @example 1
             */
            attempt: number;
            /**
             * Format: date-time
             * @description When the attempt began.
             * @example 2026-11-21T08:00:01.250Z
             */
            created_at: string;
            /** @example 184 */
            duration_ms: number | null;
            /**
             * @description What went wrong, in a short word: `http_503`, `timeout`, `connection_refused`, `interrupted` and so on.
             *     `secret_unreadable`: Herald lacks the key that opens the signing secret; its operator has to give it back, or
             *     rotate-secret makes another one.
             * @example http_503
             */
            error: string | null;
            /**
             * @description The body that was sent. Null where the event is no longer kept, or where the key lacks the scope `messages:read`, or
             *     `media:read` for files.
             * @example {
             *       "id": "01936f70-1c3d-7a55-9e21-0b1c2d3e4f5a",
             *       "type": "message.status.updated",
             *       "created_at": "2026-11-21T08:00:00.125Z",
             *       "organization_id": "01936f6c-7d3e-7a44-8b21-9c8d7e6f5a4b",
             *       "cursor": "AX2Gw5cKHd2jAAAAAAAAA-gBk29wHD16VZ4hCxwtPk9a",
             *       "data": {
             *         "message_id": "01936f6e-2b5c-7c2e-9d8a-3f1b2a4c5d6e",
             *         "client_message_id": "order-4711",
             *         "connection_id": "01936f6d-0a1b-7f00-8c11-5a6b7c8d9e0f",
             *         "conversation_id": "01936f6d-9a1b-7f00-8c11-5a6b7c8d9e0f",
             *         "type": "text",
             *         "tag": "spring-sale",
             *         "metadata": {
             *           "customer": "c-17"
             *         },
             *         "to": "15550100009",
             *         "recipient": null,
             *         "status": "delivered",
             *         "previous_status": "sent",
             *         "occurred_at": "2026-11-21T08:00:02.000Z",
             *         "attempt": 1,
             *         "failure_category": null,
             *         "error": null,
             *         "pricing": {
             *           "billable": true,
             *           "category": "utility",
             *           "type": "regular",
             *           "subtype": null,
             *           "model": "PMP"
             *         },
             *         "sequence": 3
             *       }
             *     }
             */
            event: (components["schemas"]["MessageReceivedEvent"] | components["schemas"]["MessageStatusUpdatedEvent"] | components["schemas"]["MessageStandbyReceivedEvent"] | components["schemas"]["MessageSentElsewhereEvent"] | components["schemas"]["ConversationControlUpdatedEvent"] | components["schemas"]["ConversationUpdatedEvent"] | components["schemas"]["TemplateStatusUpdatedEvent"] | components["schemas"]["TemplateCategoryUpdatedEvent"] | components["schemas"]["MediaReadyEvent"] | components["schemas"]["MediaFailedEvent"] | components["schemas"]["ConnectionUpdatedEvent"] | components["schemas"]["ContactOptOutUpdatedEvent"] | components["schemas"]["WorkspaceLimitReachedEvent"] | components["schemas"]["PaymentUpdatedEvent"] | components["schemas"]["CallMissedEvent"] | components["schemas"]["CallEndedEvent"] | components["schemas"]["PlatformErrorEvent"] | components["schemas"]["DestinationEventsLostEvent"] | components["schemas"]["WebhookTestEvent"]) | null;
            /**
             * Format: uuid
             * @description The same for all attempts of an event; also the header `webhook-id`.
             * @example 01936f70-1c3d-7a55-9e21-0b1c2d3e4f5a
             */
            event_id: string;
            /**
             * @example message.status.updated
             * @enum {string}
             */
            event_type: "message.received" | "message.status.updated" | "message.standby.received" | "message.sent_elsewhere" | "conversation.control.updated" | "conversation.updated" | "template.status.updated" | "template.category.updated" | "media.ready" | "media.failed" | "connection.updated" | "contact.opt_out.updated" | "workspace.limit.reached" | "payment.updated" | "call.missed" | "call.ended" | "platform.error" | "destination.events_lost" | "webhook.test";
            /**
             * @description Null where no answer came.
             * @example 503
             */
            http_status: number | null;
            /**
             * Format: uuid
             * @example 01936f70-4d2e-7b10-8f3a-6c7d8e9f0a1b
             */
            id: string;
            /**
             * Format: date-time
             * @description When the next attempt was planned for as this one ended; null where it was the last.
             * @example 2026-11-21T08:00:06.420Z
             */
            next_attempt_at: string | null;
            /**
             * @description `succeeded`: any 2xx within ten seconds.
             * @example failed
             * @enum {string}
             */
            status: "succeeded" | "failed";
        };
        DestinationData: {
            /**
             * @description Numbers whose events it gets; empty: all.
             * @example [
             *       "01936f6d-0a1b-7f00-8c11-5a6b7c8d9e0f"
             *     ]
             */
            connection_ids: string[];
            /**
             * Format: date-time
             * @example 2026-11-21T08:00:01.250Z
             */
            created_at: string;
            /**
             * @example [
             *       "message.received"
             *     ]
             */
            events: ("message.received" | "message.status.updated" | "message.standby.received" | "message.sent_elsewhere" | "conversation.control.updated" | "conversation.updated" | "template.status.updated" | "template.category.updated" | "media.ready" | "media.failed" | "connection.updated" | "contact.opt_out.updated" | "workspace.limit.reached" | "payment.updated" | "call.missed" | "call.ended" | "platform.error" | "destination.events_lost")[];
            /**
             * Format: date-time
             * @description Since when nothing could be written; null while it can.
             * @example null
             */
            failing_since: string | null;
            /**
             * Format: uuid
             * @example 01936f74-2d3e-7c4f-9051-6b7c8d9e0f1a
             */
            id: string;
            /**
             * @example nats
             * @enum {string}
             */
            kind: "nats" | "rabbitmq" | "sqs";
            /**
             * @description What went wrong last, in a short word: `connection_refused`, `unauthorized`, `unroutable` and so on.
             * @example null
             */
            last_error: string | null;
            /**
             * Format: date-time
             * @example null
             */
            last_error_at: string | null;
            /**
             * Format: date-time
             * @example 2026-11-21T08:00:01.250Z
             */
            last_written_at: string | null;
            /**
             * @description Events that were never written: their time was over before, or they are too large for it. `destination.events_lost` tells of them.
             * @example 0
             */
            lost: number;
            /**
             * Format: date-time
             * @example null
             */
            lost_at: string | null;
            /** @example orders */
            name: string;
            /** @description Only where `kind` is `nats`. */
            nats?: components["schemas"]["NatsData"];
            /** @description Only where `kind` is `rabbitmq`. */
            rabbitmq?: components["schemas"]["RabbitmqData"];
            /**
             * Format: date-time
             * @description When Herald tries again where it is failing; else null.
             * @example null
             */
            retry_at: string | null;
            /**
             * @description Names of the secrets that it has. Their values are never shown.
             * @example [
             *       "password"
             *     ]
             */
            secrets: string[];
            /** @description Only where `kind` is `sqs`. */
            sqs?: components["schemas"]["SqsData"];
            /**
             * @description `failing`: the last attempt failed, and Herald tries again at `retry_at`. `paused`: by POST /destinations/{id}/pause.
             * @example active
             * @enum {string}
             */
            status: "active" | "failing" | "paused";
            /**
             * Format: date-time
             * @example 2026-11-21T08:00:01.250Z
             */
            updated_at: string;
            /**
             * @description Events that wait for it; 1,001 stands for more than 1,000.
             * @example 0
             */
            waiting: number;
            /**
             * Format: date-time
             * @description Since when the oldest of them waits; null where none does.
             * @example null
             */
            waiting_since: string | null;
            /**
             * @description Events that it has acknowledged, those of replays included.
             * @example 4711
             */
            written: number;
        };
        /** DestinationEventsLostEvent */
        DestinationEventsLostEvent: {
            /**
             * Format: date-time
             * @description When the reported change happened.
             */
            created_at: string;
            /** @description For `after` of GET /events. */
            cursor: string;
            data: {
                /**
                 * Format: uuid
                 * @description Of GET /destinations.
                 */
                destination_id: string;
                /** @description How many, since it was told of the last time. */
                events: number;
                /** @description `nats`, `rabbitmq` or `sqs`. */
                kind: string;
                /** @description How many in all. */
                lost: number;
                name: string;
                /**
                 * Format: date-time
                 * @description When the last of them was lost.
                 */
                occurred_at: string;
                /**
                 * @description Only where POST /webhook/test or /webhook/verify made it: an example.
                 * @constant
                 */
                test?: true;
            };
            /**
             * Format: uuid
             * @description The same for all attempts.
             */
            id: string;
            /** Format: uuid */
            organization_id: string;
            /** @constant */
            type: "destination.events_lost";
        };
        DestinationListResponse: {
            data: components["schemas"]["DestinationData"][];
        };
        DestinationResponse: {
            data: components["schemas"]["DestinationData"];
        };
        DestinationTestData: {
            /**
             * @description What went wrong, as `last_error` of a destination; null where it was written.
             * @example null
             */
            error: string | null;
            /**
             * Format: uuid
             * @description Of the `webhook.test` event, which stands in no journal.
             * @example 01936f70-1c3d-7a55-9e21-0b1c2d3e4f5a
             */
            event_id: string;
            /**
             * @description Whether the broker has acknowledged the event.
             * @example true
             */
            written: boolean;
        };
        DestinationTestResponse: {
            data: components["schemas"]["DestinationTestData"];
        };
        /** EditTemplate */
        EditTemplate: {
            /** @description The parts of the template, in the platform's own format. */
            components: ({
                /** @enum {string} */
                type: "HEADER" | "BODY" | "FOOTER" | "BUTTONS" | "CAROUSEL" | "LIMITED_TIME_OFFER";
            } & {
                [key: string]: unknown;
            })[];
            /**
             * @description The platform's code of the language, such as `en_US` or `de`.
             * @example en_US
             */
            language: string;
            /**
             * @description Seconds that a message of this template may wait for its delivery: 30 to 900 for `AUTHENTICATION`, 30 to 43200 for
             *     `UTILITY`, 43200 to 2592000 for `MARKETING`; -1 is 30 days, except for `MARKETING`. Default: the platform's.
             * @example 3600
             */
            message_send_ttl_seconds?: number;
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
        EventsResponse: {
            /**
             * @description Each as a webhook delivery brings it; by `type`.
             * @example [
             *       {
             *         "id": "01936f70-1c3d-7a55-9e21-0b1c2d3e4f5a",
             *         "type": "message.status.updated",
             *         "created_at": "2026-11-21T08:00:00.125Z",
             *         "organization_id": "01936f6c-7d3e-7a44-8b21-9c8d7e6f5a4b",
             *         "cursor": "AX2Gw5cKHd2jAAAAAAAAA-gBk29wHD16VZ4hCxwtPk9a",
             *         "data": {
             *           "message_id": "01936f6e-2b5c-7c2e-9d8a-3f1b2a4c5d6e",
             *           "client_message_id": "order-4711",
             *           "connection_id": "01936f6d-0a1b-7f00-8c11-5a6b7c8d9e0f",
             *           "conversation_id": "01936f6d-9a1b-7f00-8c11-5a6b7c8d9e0f",
             *           "type": "text",
             *           "tag": "spring-sale",
             *           "metadata": {
             *             "customer": "c-17"
             *           },
             *           "to": "15550100009",
             *           "recipient": null,
             *           "status": "delivered",
             *           "previous_status": "sent",
             *           "occurred_at": "2026-11-21T08:00:02.000Z",
             *           "attempt": 1,
             *           "failure_category": null,
             *           "error": null,
             *           "pricing": {
             *             "billable": true,
             *             "category": "utility",
             *             "type": "regular",
             *             "subtype": null,
             *             "model": "PMP"
             *           },
             *           "sequence": 3
             *         }
             *       }
             *     ]
             */
            data: (components["schemas"]["MessageReceivedEvent"] | components["schemas"]["MessageStatusUpdatedEvent"] | components["schemas"]["MessageStandbyReceivedEvent"] | components["schemas"]["MessageSentElsewhereEvent"] | components["schemas"]["ConversationControlUpdatedEvent"] | components["schemas"]["ConversationUpdatedEvent"] | components["schemas"]["TemplateStatusUpdatedEvent"] | components["schemas"]["TemplateCategoryUpdatedEvent"] | components["schemas"]["MediaReadyEvent"] | components["schemas"]["MediaFailedEvent"] | components["schemas"]["ConnectionUpdatedEvent"] | components["schemas"]["ContactOptOutUpdatedEvent"] | components["schemas"]["WorkspaceLimitReachedEvent"] | components["schemas"]["PaymentUpdatedEvent"] | components["schemas"]["CallMissedEvent"] | components["schemas"]["CallEndedEvent"] | components["schemas"]["PlatformErrorEvent"] | components["schemas"]["DestinationEventsLostEvent"] | components["schemas"]["WebhookTestEvent"])[];
            /**
             * @description True: nothing more was there. False: ask again, at once after a page with events, else after a moment, or with `wait`.
             * @example true
             */
            done: boolean;
            /**
             * @description Pass it as `after` the next time, also where `data` is empty. Keep it only once you have stored the events.
             * @example AX2Gw5cKHd2jAAAAAAAAA-gBk29wHD16VZ4hCxwtPk9a
             */
            next: string;
            /**
             * @description Types that were left out because the key lacks the scope `messages:read`, or `media:read` for files.
             * @example []
             */
            omitted: ("message.received" | "message.status.updated" | "message.standby.received" | "message.sent_elsewhere" | "conversation.control.updated" | "conversation.updated" | "contact.opt_out.updated" | "media.ready" | "media.failed" | "payment.updated" | "call.missed" | "call.ended")[];
        };
        /**
         * EveryMessage
         * @description Exactly one of `to`, `recipient` and `conversation_id` is given; with `to` and `recipient` also `connection_id`, with `conversation_id` never.
         */
        EveryMessage: {
            /** @description Your own id; returned as it is, and a filter of GET /messages. */
            client_message_id?: string;
            /**
             * Format: uuid
             * @description The sending number, from GET /connections.
             */
            connection_id?: string;
            /**
             * Format: uuid
             * @description In place of `connection_id` and of `to` or `recipient`: the conversation to write in, by its number to its contact.
             */
            conversation_id?: string;
            /**
             * Format: uuid
             * @description A file of the workspace: the one to send, the one in the header of a template, or one to refer to.
             */
            media_object_id?: string;
            metadata?: components["schemas"]["MessageMetadata"];
            /**
             * @description Instead of `to`: the user id of a contact who may hide the number, from `contact.user_id`.
             * @example DE.17952480013491208655
             */
            recipient?: string;
            /**
             * Format: uuid
             * @description A message of the same conversation that this one answers.
             */
            reply_to_message_id?: string;
            /**
             * Format: date-time
             * @description When it is to go, 10 seconds to 35 days ahead. Until then it is `queued` with `scheduled_for`, and stands before no other message.
             * @example 2026-11-24T09:00:00.000Z
             */
            send_at?: string;
            tag?: components["schemas"]["MessageTag"];
            /**
             * @description Recipient: 8 to 16 digits with the country code, without 00, spaces and dashes; a leading + may stand before them.
             * @example 15550100001
             */
            to?: string;
            /**
             * @description Seconds from `send_at`, or from now, after which it is no longer to go: it fails with `expired`.
             * @example 3600
             */
            ttl_seconds?: number;
        };
        ExplanationResponse: {
            /**
             * @description Who can do something about it: `you` call this API, `operator` runs Herald; null where only time helps or nothing is wrong.
             * @example recipient
             * @enum {string|null}
             */
            responsible: "you" | "recipient" | "operator" | "whatsapp" | null;
            retry: components["schemas"]["RetryAdviceResponse"];
            /** @example The recipient cannot be reached: the number is not on WhatsApp, you are blocked, or the app is too old. Use another channel. */
            summary: string;
        };
        /**
         * FailureCategory
         * @description Why it failed, in terms that stay the same whatever WhatsApp calls it. Later versions may have more.
         * @example invalid_recipient
         * @example recipient_unreachable
         * @example service_window_closed
         * @example template_unavailable
         * @example invalid_content
         * @example media_error
         * @example rate_limited
         * @example recipient_limit
         * @example opted_out
         * @example not_conversation_owner
         * @example account_restricted
         * @example sender_not_ready
         * @example authentication
         * @example platform_unavailable
         * @example expired
         * @example canceled
         * @example unknown
         */
        FailureCategory: string;
        HeaderMediaResponse: {
            /**
             * @example image
             * @enum {string}
             */
            type: "image" | "video" | "document";
        };
        InboundContextResponse: {
            forwarded?: boolean;
            frequently_forwarded?: boolean;
            /**
             * @description WhatsApp's id of the message that it answers, where that is none of the journal.
             * @example wamid.HBgLMTU1NTAxMDAwMDEVAgARGBI5QTNDQTVCM0Q0Q0Q2RTY3RTcA
             */
            quoted_platform_id?: string;
            /** @description The product that the customer asks about. */
            referred_product?: {
                [key: string]: unknown;
            };
        };
        JournalPagination: {
            /**
             * Format: date-time
             * @description Pass it as `before` for the next page; null on the last one.
             * @example 2026-11-21T08:00:00.125Z
             */
            next_before: string | null;
            /**
             * Format: uuid
             * @description Pass it as `before_id` together with `before`.
             * @example 01936f6e-2b5c-7c2e-9d8a-3f1b2a4c5d6e
             */
            next_before_id: string | null;
        };
        JournalResponse: {
            data: components["schemas"]["MessageListItem"][];
            pagination: components["schemas"]["JournalPagination"];
        };
        KeyData: {
            /**
             * Format: date-time
             * @description Null: never.
             * @example null
             */
            expires_at: string | null;
            /**
             * @description `test`: a key of a sandbox project, which sends nothing.
             * @example live
             * @enum {string}
             */
            mode: "live" | "test";
            /**
             * @description As it was given when the key was made; of a session the name of the person.
             * @example orders-service
             */
            name: string;
            /**
             * @description Of a key for one-time codes; null: one of the workspace.
             * @example null
             */
            otp_project: components["schemas"]["ProjectOfKey"] | null;
            /**
             * @description Of a session in the console; null: a key.
             * @example null
             */
            person: components["schemas"]["PersonOfKey"] | null;
            rate_limit: components["schemas"]["RateOfKey"];
            /**
             * @example [
             *       "messages:read",
             *       "messages:write"
             *     ]
             */
            scopes: ("connections:read" | "messages:read" | "messages:write" | "templates:read" | "templates:write" | "profile:read" | "profile:write" | "media:read" | "media:write" | "webhooks:read" | "webhooks:write" | "otp:send" | "otp:verify" | "otp:read")[];
            /**
             * @description Of Herald.
             * @example 0.2.0
             */
            version: string;
            workspace: components["schemas"]["WorkspaceOfKey"];
        };
        KeyResponse: {
            data: components["schemas"]["KeyData"];
        };
        LastTagAction: {
            /**
             * @example retry
             * @enum {string}
             */
            action: "pause" | "resume" | "cancel" | "retry";
            /**
             * @description Messages that it has held, freed, canceled or queued again.
             * @example 60
             */
            done: number;
            /**
             * Format: date-time
             * @description null: it goes on. A pause holds from its start on.
             * @example 2026-11-21T08:00:00.125Z
             */
            ended_at: string | null;
            /**
             * @description Messages that a retry had to leave as they were, by the error code that POST /messages/{id}/retry would answer.
             * @example {
             *       "RECIPIENT_OPTED_OUT": 15
             *     }
             */
            skipped: {
                [key: string]: number;
            };
            /**
             * Format: date-time
             * @example 2026-11-21T08:00:00.125Z
             */
            started_at: string;
        };
        /** MediaFailedEvent */
        MediaFailedEvent: {
            /**
             * Format: date-time
             * @description When the reported change happened.
             */
            created_at: string;
            /** @description For `after` of GET /events. */
            cursor: string;
            data: {
                /**
                 * Format: uuid
                 * @description Of that message.
                 */
                conversation_id: string | null;
                media: {
                    /** Format: uuid */
                    connection_id: string;
                    /** Format: date-time */
                    created_at: string;
                    /** @constant */
                    direction: "inbound";
                    filename: string | null;
                    /**
                     * Format: uuid
                     * @description `media_object_id` of the message: GET /media/{id}/url.
                     */
                    id: string;
                    mime_type: string;
                    sha256: string | null;
                    size_bytes: number | null;
                    /** @constant */
                    status: "failed";
                    /** @enum {string} */
                    type: "image" | "video" | "audio" | "document" | "sticker";
                    voice: boolean;
                };
                /**
                 * Format: uuid
                 * @description The message that brought it; null where that is not known.
                 */
                message_id: string | null;
                /** @description Why it will not come, in words. */
                reason: string | null;
                /**
                 * @description Only where POST /webhook/test or /webhook/verify made it: an example.
                 * @constant
                 */
                test?: true;
            };
            /**
             * Format: uuid
             * @description The same for all attempts.
             */
            id: string;
            /** Format: uuid */
            organization_id: string;
            /** @constant */
            type: "media.failed";
        };
        MediaLinkData: {
            /**
             * Format: date-time
             * @example 2026-11-21T08:15:00.000Z
             */
            expires_at: string;
            /**
             * Format: uri
             * @description Answers with the bytes, without a key, to GET and HEAD, with single ranges.
             * @example https://herald.example/media/01936f70-4d5e-7a41-8b2c-6c7d8e9f0a1b/content?organization=01936f6c-1a2b-7c3d-8e4f-5a6b7c8d9e0f&expires=1795248900&key=1&signature=5Zb1yWmV0bQ3k8nJc7tX2aLr9fHd4eSg6iKpMoNqRwA
             */
            url: string;
        };
        MediaLinkResponse: {
            data: components["schemas"]["MediaLinkData"];
        };
        MediaListResponse: {
            data: components["schemas"]["MediaResponse"][];
            pagination: components["schemas"]["PaginationResponse"];
        };
        /** MediaReadyEvent */
        MediaReadyEvent: {
            /**
             * Format: date-time
             * @description When the reported change happened.
             */
            created_at: string;
            /** @description For `after` of GET /events. */
            cursor: string;
            data: {
                /**
                 * Format: uuid
                 * @description Of that message.
                 */
                conversation_id: string | null;
                media: {
                    /** Format: uuid */
                    connection_id: string;
                    /** Format: date-time */
                    created_at: string;
                    /** @constant */
                    direction: "inbound";
                    filename: string | null;
                    /**
                     * Format: uuid
                     * @description `media_object_id` of the message: GET /media/{id}/url.
                     */
                    id: string;
                    mime_type: string;
                    sha256: string | null;
                    size_bytes: number | null;
                    /** @constant */
                    status: "stored";
                    /** @enum {string} */
                    type: "image" | "video" | "audio" | "document" | "sticker";
                    voice: boolean;
                };
                /**
                 * Format: uuid
                 * @description The message that brought it; null where that is not known.
                 */
                message_id: string | null;
                /**
                 * @description Only where POST /webhook/test or /webhook/verify made it: an example.
                 * @constant
                 */
                test?: true;
            };
            /**
             * Format: uuid
             * @description The same for all attempts.
             */
            id: string;
            /** Format: uuid */
            organization_id: string;
            /** @constant */
            type: "media.ready";
        };
        MediaResponse: {
            /**
             * Format: uuid
             * @description The number that it was uploaded for, or that received it.
             * @example 01936f6d-0a1b-7f00-8c11-5a6b7c8d9e0f
             */
            connection_id: string;
            /**
             * Format: date-time
             * @example 2026-11-21T08:00:00.125Z
             */
            created_at: string;
            /**
             * @description `outbound`: uploaded here; `inbound`: sent by a customer.
             * @example outbound
             * @enum {string}
             */
            direction: "outbound" | "inbound";
            /**
             * Format: date-time
             * @description When Herald deletes it by itself, as it is set up now; null: it stays until you delete it.
             * @example null
             */
            expires_at: string | null;
            /**
             * @description As its sender named it, without folders and invisible characters; at most 240 characters.
             * @example invoice-2026-11.pdf
             */
            filename: string | null;
            /**
             * Format: uuid
             * @description Used as `media.id` when sending.
             * @example 01936f70-4d5e-7a41-8b2c-6c7d8e9f0a1b
             */
            id: string;
            /**
             * @description The MIME type, detected from the content.
             * @example application/pdf
             */
            mime_type: string;
            /**
             * @description SHA-256 of the bytes in hex.
             * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
             */
            sha256: string | null;
            /**
             * @description Null while an inbound file is not fetched yet.
             * @example 48213
             */
            size_bytes: number | null;
            /**
             * @description `pending`: Herald is fetching it from the platform; `failed`: it will not come.
             * @example stored
             * @enum {string}
             */
            status: "stored" | "pending" | "failed";
            /**
             * @description What it can be sent as.
             * @example document
             * @enum {string}
             */
            type: "image" | "video" | "audio" | "document" | "sticker";
            /**
             * @description It is a voice message.
             * @example false
             */
            voice: boolean;
        };
        MembersResponse: {
            data: components["schemas"]["WorkspaceMemberResponse"][];
            pagination: components["schemas"]["PaginationResponse"];
        };
        MessageCheck: {
            /**
             * Format: uuid
             * @example 01936f6d-9a1b-7f00-8c11-5a6b7c8d9e0f
             */
            conversation_id?: string | null;
            /**
             * @example messages
             * @enum {string}
             */
            endpoint?: "messages" | "marketing_messages";
            /** @example [] */
            limits: components["schemas"]["CheckedLimit"][];
            /**
             * @example you
             * @enum {string}
             */
            owner?: "you" | "other" | "unknown";
            /** @example null */
            owner_role?: string | null;
            /** @example [] */
            problems: ({
                code: string;
                details?: components["schemas"]["ErrorDetail"][];
                /** Format: uri */
                doc_url: string;
                message: string;
            } & {
                [key: string]: unknown;
            })[];
            queue: components["schemas"]["CheckedQueue"];
            rendered: components["schemas"]["RenderedMessageResponse"];
            /** @example true */
            sendable: boolean;
            warnings: components["schemas"]["CheckWarningResponse"][];
            window?: components["schemas"]["CheckedWindow"];
        };
        MessageCheckResponse: {
            data: components["schemas"]["MessageCheck"];
        };
        MessageErrorResponse: {
            /** @example 131026 */
            code: string;
            /** @example Message undeliverable */
            message: string;
        };
        MessageListItem: {
            /** @example Your table is ready. */
            body: string | null;
            /** @example order-4711 */
            client_message_id: string | null;
            /**
             * Format: uuid
             * @example 01936f6d-0a1b-7f00-8c11-5a6b7c8d9e0f
             */
            connection_id: string;
            contact: components["schemas"]["ContactResponse"];
            /**
             * @description The variant's object as it was sent or received.
             * @example {
             *       "body": "Your table is ready."
             *     }
             */
            content: components["schemas"]["ReceivedContent"];
            context?: components["schemas"]["InboundContextResponse"];
            /**
             * Format: uuid
             * @example 01936f6d-9a1b-7f00-8c11-5a6b7c8d9e0f
             */
            conversation_id: string | null;
            /**
             * Format: date-time
             * @example 2026-11-21T08:00:00.125Z
             */
            created_at: string;
            /** @description What it says since the last edit, beside `body` and `content`, which stay; null where it was revoked. */
            current?: components["schemas"]["CurrentResponse"] | null;
            /**
             * @example outbound
             * @enum {string}
             */
            direction: "outbound" | "inbound";
            /**
             * Format: date-time
             * @description When its author last corrected it. Only on a message that was edited or revoked.
             * @example 2026-11-21T08:00:00.125Z
             */
            edited_at?: string | null;
            /**
             * Format: uuid
             * @description Only on `type` `edit`: the message that it corrects; null where that is not known.
             * @example 01936f6e-2b5c-7c2e-9d8a-3f1b2a4c5d6e
             */
            edits_message_id?: string | null;
            /** @example null */
            failure_category: components["schemas"]["FailureCategory"] | null;
            /** @example 15550100002 */
            from: string | null;
            /**
             * @description Only on what was said in a group: it belongs to no conversation and opens no window.
             * @example Y2FwaV9ncm91cDox
             */
            group_id?: string;
            /**
             * Format: uuid
             * @example 01936f6e-2b5c-7c2e-9d8a-3f1b2a4c5d6e
             */
            id: string;
            /** @description State of the customer's keys, where the number checks for changes. */
            identity?: {
                [key: string]: unknown;
            };
            /**
             * Format: uuid
             * @description The file that it sends, refers to, or that came with it: GET /media/{id}/url.
             * @example null
             */
            media_object_id: string | null;
            /** @example wamid.HBgLMTU1NTAxMDAwMDEVAgARGBI5QTNDQTVCM0Q0Q0Q2RTY3RTcA */
            meta_message_id: string | null;
            /**
             * @description Your own strings, as sent.
             * @example {
             *       "customer": "c-17"
             *     }
             */
            metadata: {
                [key: string]: string;
            } | null;
            /**
             * @description Null until WhatsApp has said it, which it does with `sent`, `delivered` or `read`, and of received messages.
             * @example {
             *       "billable": true,
             *       "category": "utility",
             *       "type": "regular",
             *       "subtype": null,
             *       "model": "PMP"
             *     }
             */
            pricing: components["schemas"]["PricingResponse"] | null;
            /**
             * @description The user id that it is addressed to instead of a number.
             * @example null
             */
            recipient: string | null;
            /**
             * @description The advertisement or post that led the customer here, as WhatsApp reports it.
             * @example {
             *       "source_type": "ad",
             *       "source_id": "120210",
             *       "ctwa_clid": "ARAkLkA8"
             *     }
             */
            referral?: {
                [key: string]: unknown;
            };
            /**
             * Format: uuid
             * @example null
             */
            reply_to_message_id: string | null;
            /**
             * Format: date-time
             * @description When its author withdrew it: show its text no longer. Only on a message that was edited or revoked.
             * @example null
             */
            revoked_at?: string | null;
            /**
             * Format: uuid
             * @description Only on `type` `revoke`: the message that it withdraws; null where that is not known.
             * @example 01936f6e-2b5c-7c2e-9d8a-3f1b2a4c5d6e
             */
            revokes_message_id?: string | null;
            /**
             * Format: date-time
             * @description When it is to go. Only while the message is scheduled.
             * @example 2026-11-24T09:00:00.000Z
             */
            scheduled_for?: string;
            /**
             * @description `api`: sent by this API; `app`: by the business in the WhatsApp Business app; `customer`: received; `history`: of
             *     before the number was connected, imported from that app.
             * @example api
             * @enum {string}
             */
            source: "api" | "app" | "customer" | "history";
            /**
             * @description Received as an observer: the customer wrote to another app, which owned the conversation. Do not answer it.
             * @example false
             */
            standby: boolean;
            /**
             * @example delivered
             * @enum {string}
             */
            status: "queued" | "processing" | "accepted" | "sent" | "delivered" | "read" | "failed" | "outcome_unknown" | "received";
            /**
             * @description The group of messages that it belongs to; null of received messages, and where it has none.
             * @example spring-sale
             */
            tag: string | null;
            /**
             * @description The recipient; for an inbound message the workspace's own number; null where it is addressed to a user id.
             * @example 15550100001
             */
            to: string | null;
            /** @example text */
            type: string;
            /**
             * @description The customer's WhatsApp user name.
             * @example ana.lima
             */
            username?: string;
        };
        /**
         * MessageMetadata
         * @description Your own strings, returned as they are: up to 20, and 2048 bytes as JSON.
         * @example {
         *       "customer": "c-17"
         *     }
         */
        MessageMetadata: {
            [key: string]: string;
        };
        /** MessageReceivedEvent */
        MessageReceivedEvent: {
            /**
             * Format: date-time
             * @description When the reported change happened.
             */
            created_at: string;
            /** @description For `after` of GET /events. */
            cursor: string;
            data: {
                contact: {
                    name: string | null;
                    phone: string | null;
                    user_id: string | null;
                };
                content: components["schemas"]["ReceivedContent"];
                context?: {
                    forwarded?: boolean;
                    frequently_forwarded?: boolean;
                    /** @description What it answers, where that is none of the messages known here. */
                    quoted_platform_id?: string;
                    /** @description The product that the customer asks about. */
                    referred_product?: {
                        [key: string]: unknown;
                    };
                };
                /**
                 * Format: uuid
                 * @description As in `message`; null of what was said in a group.
                 */
                conversation_id: string | null;
                /** @description Said in a group: it belongs to no conversation and opens no window. */
                group_id?: string;
                /** @description State of the customer's keys, where the number checks for changes. */
                identity?: {
                    [key: string]: unknown;
                };
                message: {
                    body: string | null;
                    client_message_id: string | null;
                    /** Format: uuid */
                    connection_id: string;
                    /** Format: uuid */
                    conversation_id: string | null;
                    /**
                     * Format: date-time
                     * @description When it came to Herald.
                     */
                    created_at: string;
                    /** @description What it says by now; null where it was revoked. */
                    current?: {
                        body: string | null;
                        content: components["schemas"]["ReceivedContent"];
                    } | null;
                    /** @constant */
                    direction: "inbound";
                    /**
                     * Format: date-time
                     * @description Only where an edit or a revoke came before the message.
                     */
                    edited_at?: string | null;
                    /**
                     * Format: uuid
                     * @description Only of type `edit`: what it corrects. Null where that is not known; `content.original_message_id` is its `meta_message_id`.
                     */
                    edits_message_id?: string | null;
                    failure_category: string | null;
                    /** @description The customer's number; null where only a user id is known. */
                    from: string | null;
                    /** Format: uuid */
                    id: string;
                    /**
                     * Format: uuid
                     * @description A file that came with it: GET /media/{id}/url.
                     */
                    media_object_id: string | null;
                    meta_message_id: string | null;
                    metadata: {
                        [key: string]: string;
                    } | null;
                    /** Format: uuid */
                    reply_to_message_id: string | null;
                    /** Format: date-time */
                    revoked_at?: string | null;
                    /**
                     * Format: uuid
                     * @description Only of type `revoke`: what it withdraws, as `edits_message_id`.
                     */
                    revokes_message_id?: string | null;
                    /**
                     * Format: date-time
                     * @description When the customer wrote it, in whole seconds.
                     */
                    sent_at: string | null;
                    /** @constant */
                    source: "customer";
                    /** @description Written to another app, which owned the conversation: do not answer it. */
                    standby: boolean;
                    /** @constant */
                    status: "received";
                    tag: string | null;
                    /** @description The workspace's own number. */
                    to: string | null;
                    type: string;
                };
                /**
                 * @description Who may send ordinary messages in the conversation.
                 * @enum {string}
                 */
                owner: "you" | "other" | "unknown";
                /** @description Of another app: customer_service, marketing, utility, ctwa, ai_agent, escalation, or a later one; null where it is not known. */
                owner_role: string | null;
                /** @description The advertisement or post that led the customer here, as WhatsApp reports it. */
                referral?: {
                    [key: string]: unknown;
                };
                /** @description Counts the events of this message: deliveries may overtake each other, so keep the highest. */
                sequence: number;
                /**
                 * @description Only where POST /webhook/test or /webhook/verify made it: an example.
                 * @constant
                 */
                test?: true;
                /** @description The customer's WhatsApp user name. */
                username?: string;
            };
            /**
             * Format: uuid
             * @description The same for all attempts.
             */
            id: string;
            /** Format: uuid */
            organization_id: string;
            /** @constant */
            type: "message.received";
        };
        MessageResponse: {
            /**
             * Format: date-time
             * @description When its status became `accepted`; null where a report of WhatsApp came before the answer to the request.
             * @example 2026-11-21T08:00:00.125Z
             */
            accepted_at: string | null;
            /** @example 1 */
            attempt_count: number;
            /** @description The send attempts, oldest first. Only in the answer of GET /messages/{id}. */
            attempts?: components["schemas"]["AttemptResponse"][];
            /** @example Your table is ready. */
            body: string | null;
            /** @example order-4711 */
            client_message_id: string | null;
            /**
             * Format: uuid
             * @example 01936f6d-0a1b-7f00-8c11-5a6b7c8d9e0f
             */
            connection_id: string;
            contact: components["schemas"]["ContactResponse"];
            /**
             * @description The variant's object as it was sent or received.
             * @example {
             *       "body": "Your table is ready."
             *     }
             */
            content: components["schemas"]["ReceivedContent"];
            context?: components["schemas"]["InboundContextResponse"];
            /**
             * Format: uuid
             * @example 01936f6d-9a1b-7f00-8c11-5a6b7c8d9e0f
             */
            conversation_id: string | null;
            /**
             * Format: date-time
             * @example 2026-11-21T08:00:00.125Z
             */
            created_at: string;
            /** @description What it says since the last edit, beside `body` and `content`, which stay; null where it was revoked. */
            current?: components["schemas"]["CurrentResponse"] | null;
            /**
             * Format: date-time
             * @example 2026-11-21T08:00:02.000Z
             */
            delivered_at: string | null;
            /**
             * @example outbound
             * @enum {string}
             */
            direction: "outbound" | "inbound";
            /**
             * Format: date-time
             * @description When its author last corrected it. Only on a message that was edited or revoked.
             * @example 2026-11-21T08:00:00.125Z
             */
            edited_at?: string | null;
            /**
             * Format: uuid
             * @description Only on `type` `edit`: the message that it corrects; null where that is not known.
             * @example 01936f6e-2b5c-7c2e-9d8a-3f1b2a4c5d6e
             */
            edits_message_id?: string | null;
            error: components["schemas"]["MessageErrorResponse"] | null;
            /**
             * Format: date-time
             * @description With `waiting`: when it leaves, by the queue as it stands and the pace of the number; null where that can't be known,
             *     or 10,000 messages or more are ahead.
             * @example 2026-11-21T08:00:03.750Z
             */
            estimated_send_at?: string | null;
            /**
             * Format: date-time
             * @description With `waiting`: when the message is given up (`failed`, category `expired`) if it has not left by then.
             * @example 2026-11-22T08:00:00.125Z
             */
            expires_at?: string;
            /**
             * Format: date-time
             * @example null
             */
            failed_at: string | null;
            /** @example null */
            failure_category: components["schemas"]["FailureCategory"] | null;
            /** @example 15550100002 */
            from: string | null;
            /**
             * @description Only on what was said in a group: it belongs to no conversation and opens no window.
             * @example Y2FwaV9ncm91cDox
             */
            group_id?: string;
            /**
             * Format: uuid
             * @example 01936f6e-2b5c-7c2e-9d8a-3f1b2a4c5d6e
             */
            id: string;
            /** @description State of the customer's keys, where the number checks for changes. */
            identity?: {
                [key: string]: unknown;
            };
            /**
             * Format: uuid
             * @description The file that it sends, refers to, or that came with it: GET /media/{id}/url.
             * @example null
             */
            media_object_id: string | null;
            /** @example wamid.HBgLMTU1NTAxMDAwMDEVAgARGBI5QTNDQTVCM0Q0Q0Q2RTY3RTcA */
            meta_message_id: string | null;
            /**
             * @description Your own strings, as sent.
             * @example {
             *       "customer": "c-17"
             *     }
             */
            metadata: {
                [key: string]: string;
            } | null;
            /**
             * Format: date-time
             * @description When the next attempt is due, while the message is queued.
             * @example null
             */
            next_attempt_at: string | null;
            /**
             * @description Null until WhatsApp has said it, which it does with `sent`, `delivered` or `read`, and of received messages.
             * @example {
             *       "billable": true,
             *       "category": "utility",
             *       "type": "regular",
             *       "subtype": null,
             *       "model": "PMP"
             *     }
             */
            pricing: components["schemas"]["PricingResponse"] | null;
            /**
             * Format: date-time
             * @example 2026-11-21T08:00:00.125Z
             */
            processing_at: string | null;
            /**
             * Format: date-time
             * @example 2026-11-21T08:00:00.125Z
             */
            queued_at: string | null;
            /**
             * Format: date-time
             * @example null
             */
            read_at: string | null;
            /**
             * @description The user id that it is addressed to instead of a number.
             * @example null
             */
            recipient: string | null;
            /**
             * @description The advertisement or post that led the customer here, as WhatsApp reports it.
             * @example {
             *       "source_type": "ad",
             *       "source_id": "120210",
             *       "ctwa_clid": "ARAkLkA8"
             *     }
             */
            referral?: {
                [key: string]: unknown;
            };
            /**
             * Format: uuid
             * @example null
             */
            reply_to_message_id: string | null;
            /**
             * Format: date-time
             * @description When its author withdrew it: show its text no longer. Only on a message that was edited or revoked.
             * @example null
             */
            revoked_at?: string | null;
            /**
             * Format: uuid
             * @description Only on `type` `revoke`: the message that it withdraws; null where that is not known.
             * @example 01936f6e-2b5c-7c2e-9d8a-3f1b2a4c5d6e
             */
            revokes_message_id?: string | null;
            /**
             * Format: date-time
             * @description When it is to go. Only while the message is scheduled.
             * @example 2026-11-24T09:00:00.000Z
             */
            scheduled_for?: string;
            /**
             * Format: date-time
             * @description When WhatsApp sent it; of a received message, when the customer wrote it, in whole seconds.
             * @example 2026-11-21T08:00:01.000Z
             */
            sent_at: string | null;
            /**
             * @description `api`: sent by this API; `app`: by the business in the WhatsApp Business app; `customer`: received; `history`: of
             *     before the number was connected, imported from that app.
             * @example api
             * @enum {string}
             */
            source: "api" | "app" | "customer" | "history";
            /**
             * @description Received as an observer: the customer wrote to another app, which owned the conversation. Do not answer it.
             * @example false
             */
            standby: boolean;
            /**
             * @example delivered
             * @enum {string}
             */
            status: "queued" | "processing" | "accepted" | "sent" | "delivered" | "read" | "failed" | "outcome_unknown" | "received";
            /**
             * @description The group of messages that it belongs to; null of received messages, and where it has none.
             * @example spring-sale
             */
            tag: string | null;
            /**
             * @description The recipient; for an inbound message the workspace's own number; null where it is addressed to a user id.
             * @example 15550100001
             */
            to: string | null;
            /** @example text */
            type: string;
            /**
             * @description The customer's WhatsApp user name.
             * @example ana.lima
             */
            username?: string;
            /** @description Only while the message is queued, in the answer of GET /messages/{id}. */
            waiting?: components["schemas"]["WaitingResponse"];
        };
        /** MessageSentElsewhereEvent */
        MessageSentElsewhereEvent: {
            /**
             * Format: date-time
             * @description When the reported change happened.
             */
            created_at: string;
            /** @description For `after` of GET /events. */
            cursor: string;
            data: {
                contact: {
                    name: string | null;
                    phone: string | null;
                    user_id: string | null;
                };
                content: components["schemas"]["ReceivedContent"];
                /**
                 * Format: uuid
                 * @description As in `message`; null of what was said in a group.
                 */
                conversation_id: string | null;
                message: {
                    body: string | null;
                    client_message_id: string | null;
                    /** Format: uuid */
                    connection_id: string;
                    /** Format: uuid */
                    conversation_id: string | null;
                    /**
                     * Format: date-time
                     * @description When WhatsApp told Herald of it.
                     */
                    created_at: string;
                    /** @description What it says by now; null where it was revoked. */
                    current?: {
                        body: string | null;
                        content: components["schemas"]["ReceivedContent"];
                    } | null;
                    /** @constant */
                    direction: "outbound";
                    /**
                     * Format: date-time
                     * @description Only where an edit or a revoke came before the message.
                     */
                    edited_at?: string | null;
                    /**
                     * Format: uuid
                     * @description Only of type `edit`: what it corrects. Null where that is not known; `content.original_message_id` is its `meta_message_id`.
                     */
                    edits_message_id?: string | null;
                    failure_category: string | null;
                    /** @description The workspace's own number. */
                    from: string | null;
                    /** Format: uuid */
                    id: string;
                    /**
                     * Format: uuid
                     * @description A file that came with it: GET /media/{id}/url.
                     */
                    media_object_id: string | null;
                    meta_message_id: string | null;
                    metadata: {
                        [key: string]: string;
                    } | null;
                    /** Format: uuid */
                    reply_to_message_id: string | null;
                    /** Format: date-time */
                    revoked_at?: string | null;
                    /**
                     * Format: uuid
                     * @description Only of type `revoke`: what it withdraws, as `edits_message_id`.
                     */
                    revokes_message_id?: string | null;
                    /**
                     * Format: date-time
                     * @description When it was sent, in whole seconds.
                     */
                    sent_at: string | null;
                    /** @constant */
                    source: "app";
                    standby: boolean;
                    /** @constant */
                    status: "sent";
                    tag: string | null;
                    /** @description The customer's number; null where only a user id is known. */
                    to: string | null;
                    /** @description As of received messages; also `edit` and `revoke`, about an earlier one. */
                    type: string;
                };
                /**
                 * @description Who may send ordinary messages in the conversation.
                 * @enum {string}
                 */
                owner: "you" | "other" | "unknown";
                /** @description Of another app: customer_service, marketing, utility, ctwa, ai_agent, escalation, or a later one; null where it is not known. */
                owner_role: string | null;
                /** @description Counts the events of this message: deliveries may overtake each other, so keep the highest. */
                sequence: number;
                /**
                 * @description Only where POST /webhook/test or /webhook/verify made it: an example.
                 * @constant
                 */
                test?: true;
            };
            /**
             * Format: uuid
             * @description The same for all attempts.
             */
            id: string;
            /** Format: uuid */
            organization_id: string;
            /** @constant */
            type: "message.sent_elsewhere";
        };
        /** MessageStandbyReceivedEvent */
        MessageStandbyReceivedEvent: {
            /**
             * Format: date-time
             * @description When the reported change happened.
             */
            created_at: string;
            /** @description For `after` of GET /events. */
            cursor: string;
            data: {
                contact: {
                    name: string | null;
                    phone: string | null;
                    user_id: string | null;
                };
                content: components["schemas"]["ReceivedContent"];
                context?: {
                    forwarded?: boolean;
                    frequently_forwarded?: boolean;
                    /** @description What it answers, where that is none of the messages known here. */
                    quoted_platform_id?: string;
                    /** @description The product that the customer asks about. */
                    referred_product?: {
                        [key: string]: unknown;
                    };
                };
                /**
                 * Format: uuid
                 * @description As in `message`; null of what was said in a group.
                 */
                conversation_id: string | null;
                /** @description Said in a group: it belongs to no conversation and opens no window. */
                group_id?: string;
                /** @description State of the customer's keys, where the number checks for changes. */
                identity?: {
                    [key: string]: unknown;
                };
                message: {
                    body: string | null;
                    client_message_id: string | null;
                    /** Format: uuid */
                    connection_id: string;
                    /** Format: uuid */
                    conversation_id: string | null;
                    /**
                     * Format: date-time
                     * @description When it came to Herald.
                     */
                    created_at: string;
                    /** @description What it says by now; null where it was revoked. */
                    current?: {
                        body: string | null;
                        content: components["schemas"]["ReceivedContent"];
                    } | null;
                    /** @constant */
                    direction: "inbound";
                    /**
                     * Format: date-time
                     * @description Only where an edit or a revoke came before the message.
                     */
                    edited_at?: string | null;
                    /**
                     * Format: uuid
                     * @description Only of type `edit`: what it corrects. Null where that is not known; `content.original_message_id` is its `meta_message_id`.
                     */
                    edits_message_id?: string | null;
                    failure_category: string | null;
                    /** @description The customer's number; null where only a user id is known. */
                    from: string | null;
                    /** Format: uuid */
                    id: string;
                    /**
                     * Format: uuid
                     * @description A file that came with it: GET /media/{id}/url.
                     */
                    media_object_id: string | null;
                    meta_message_id: string | null;
                    metadata: {
                        [key: string]: string;
                    } | null;
                    /** Format: uuid */
                    reply_to_message_id: string | null;
                    /** Format: date-time */
                    revoked_at?: string | null;
                    /**
                     * Format: uuid
                     * @description Only of type `revoke`: what it withdraws, as `edits_message_id`.
                     */
                    revokes_message_id?: string | null;
                    /**
                     * Format: date-time
                     * @description When the customer wrote it, in whole seconds.
                     */
                    sent_at: string | null;
                    /** @constant */
                    source: "customer";
                    /** @description Written to another app, which owned the conversation: do not answer it. */
                    standby: boolean;
                    /** @constant */
                    status: "received";
                    tag: string | null;
                    /** @description The workspace's own number. */
                    to: string | null;
                    type: string;
                };
                /**
                 * @description Who may send ordinary messages in the conversation.
                 * @enum {string}
                 */
                owner: "you" | "other" | "unknown";
                /** @description Of another app: customer_service, marketing, utility, ctwa, ai_agent, escalation, or a later one; null where it is not known. */
                owner_role: string | null;
                /** @description The advertisement or post that led the customer here, as WhatsApp reports it. */
                referral?: {
                    [key: string]: unknown;
                };
                /** @description Counts the events of this message: deliveries may overtake each other, so keep the highest. */
                sequence: number;
                /**
                 * @description Only where POST /webhook/test or /webhook/verify made it: an example.
                 * @constant
                 */
                test?: true;
                /** @description The customer's WhatsApp user name. */
                username?: string;
            };
            /**
             * Format: uuid
             * @description The same for all attempts.
             */
            id: string;
            /** Format: uuid */
            organization_id: string;
            /** @constant */
            type: "message.standby.received";
        };
        /** MessageStatusUpdatedEvent */
        MessageStatusUpdatedEvent: {
            /**
             * Format: date-time
             * @description When the reported change happened.
             */
            created_at: string;
            /** @description For `after` of GET /events. */
            cursor: string;
            data: {
                /** @description Number of the send attempt. */
                attempt: number;
                client_message_id: string | null;
                /** Format: uuid */
                connection_id: string;
                /**
                 * Format: uuid
                 * @description Null where the contact was erased.
                 */
                conversation_id: string | null;
                /** @description Why it failed, in the words of the platform. */
                error: {
                    code: string;
                    message: string;
                } | null;
                failure_category: components["schemas"]["FailureCategory"] | null;
                /** Format: uuid */
                message_id: string;
                /** @description Your own strings, as sent. */
                metadata: {
                    [key: string]: string;
                } | null;
                /**
                 * Format: date-time
                 * @description When the message came to this state; the platform reports whole seconds.
                 */
                occurred_at: string;
                /** @enum {string} */
                previous_status: "queued" | "processing" | "accepted" | "sent" | "delivered" | "read" | "failed" | "outcome_unknown";
                /** @description What WhatsApp charges; null until it says so. */
                pricing: {
                    billable: boolean | null;
                    category: string | null;
                    model: string | null;
                    subtype: string | null;
                    /** @description `regular` is charged; what begins with `free_` is not. */
                    type: string | null;
                } | null;
                /** @description The user id that it is addressed to instead of a number. */
                recipient: string | null;
                /** @description Counts the events of this message: deliveries may overtake each other, so keep the highest. */
                sequence: number;
                /** @enum {string} */
                status: "accepted" | "sent" | "delivered" | "read" | "failed" | "outcome_unknown";
                tag: string | null;
                /**
                 * @description Only where POST /webhook/test or /webhook/verify made it: an example.
                 * @constant
                 */
                test?: true;
                /** @description The recipient; null where it is addressed to a user id. */
                to: string | null;
                type: string;
            };
            /**
             * Format: uuid
             * @description The same for all attempts.
             */
            id: string;
            /** Format: uuid */
            organization_id: string;
            /** @constant */
            type: "message.status.updated";
        };
        /**
         * MessageTag
         * @description A group of messages, a campaign for example, which is counted, paused and canceled as one.
         * @example spring-sale
         */
        MessageTag: string;
        NatsData: {
            /** @example herald.{type} */
            subject: string;
            /** @example tls://nats.example.com:4222 */
            url: string;
            /** @example herald */
            username: string | null;
        };
        NatsRequest: {
            /**
             * @description Text of a credentials file (JWT and seed), in place of the others.
             * @example -----BEGIN NATS USER JWT-----
             */
            credentials?: string;
            /**
             * @description With `username`. Left out: as it is, unless host or port change.
             * @example s3cret
             */
            password?: string;
            /**
             * @description Subject of a stream of yours. `{type}` stands for the kind of event, `{conversation}` for the conversation. Default: herald.{type}.
             * @example herald.{type}
             */
            subject?: string;
            /**
             * @description In place of user name and password.
             * @example s3cr3t-token
             */
            token?: string;
            /**
             * @description Host and port; `nats:` without and `tls:` with TLS.
             * @example tls://nats.example.com:4222
             */
            url: string;
            /** @example herald */
            username?: string | null;
        };
        OptOutContactResponse: {
            /** @example 15550100001 */
            phone: string | null;
            /** @example null */
            user_id: string | null;
        };
        OptOutListResponse: {
            data: components["schemas"]["OptOutResponse"][];
            pagination: components["schemas"]["PaginationResponse"];
        };
        OptOutResponse: {
            /**
             * @example marketing
             * @enum {string}
             */
            category: "marketing" | "all";
            /**
             * Format: uuid
             * @description The number that an entry of WhatsApp is about; null for those of the workspace, which hold for all its numbers.
             * @example null
             */
            connection_id: string | null;
            contact: components["schemas"]["OptOutContactResponse"];
            /**
             * Format: uuid
             * @example 01936f73-1c2d-7b3e-8f40-5a6b7c8d9e0f
             */
            id: string;
            /** @example Asked on the phone */
            reason: string | null;
            /**
             * Format: date-time
             * @description When they opted out; lists are in this order.
             * @example 2026-11-21T08:00:00.125Z
             */
            since: string;
            /**
             * @description `own`: recorded by the workspace, with PUT /opt-outs or by a keyword. `platform`: reported by WhatsApp.
             * @example own
             * @enum {string}
             */
            source: "own" | "platform";
        };
        OtpChallengeResponse: {
            /**
             * @description Guesses that are left.
             * @example 5
             */
            attempts_remaining: number;
            /**
             * @example whatsapp
             * @enum {string}
             */
            channel: "whatsapp";
            /**
             * Format: date-time
             * @example 2026-11-21T08:00:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @example null
             */
            delivered_at: string | null;
            /**
             * @description Why it could not be sent: a failure category.
             * @example null
             */
            error: string | null;
            /**
             * Format: date-time
             * @example 2026-11-21T08:05:00.000Z
             */
            expires_at: string;
            /**
             * Format: uuid
             * @example 019b76f0-9c1d-7a55-8f3e-0d4c2b1a6f7e
             */
            id: string;
            /**
             * @example sandbox
             * @enum {string}
             */
            mode: "sandbox" | "live";
            /**
             * Format: date-time
             * @example null
             */
            read_at: string | null;
            /**
             * @description Digits without `+`.
             * @example 15550001234
             */
            recipient: string;
            /**
             * Format: date-time
             * @example 2026-11-21T08:00:00.180Z
             */
            sent_at: string | null;
            /**
             * @example sent
             * @enum {string}
             */
            status: "queued" | "sending" | "outcome_unknown" | "sent" | "delivered" | "read" | "verified" | "failed" | "expired";
            /**
             * @description The code: only in the first answer of a sandbox.
             * @example 042317
             */
            test_code?: string;
            /**
             * Format: date-time
             * @example null
             */
            verified_at: string | null;
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
        /** PaymentUpdatedEvent */
        PaymentUpdatedEvent: {
            /**
             * Format: date-time
             * @description When the reported change happened.
             */
            created_at: string;
            /** @description For `after` of GET /events. */
            cursor: string;
            data: {
                /** Format: uuid */
                connection_id: string;
                contact: {
                    phone: string | null;
                    user_id: string | null;
                };
                /** Format: uuid */
                conversation_id: string | null;
                /**
                 * Format: uuid
                 * @description The message with the order; null: not known.
                 */
                message_id: string | null;
                /** Format: date-time */
                occurred_at: string;
                /** @description As WhatsApp sends it. */
                payment: {
                    [key: string]: unknown;
                };
                /** @description `new`, `pending`, `captured`, `canceled`, `failed`, or a later word. */
                status: string;
                /**
                 * @description Only where POST /webhook/test or /webhook/verify made it: an example.
                 * @constant
                 */
                test?: true;
            };
            /**
             * Format: uuid
             * @description The same for all attempts.
             */
            id: string;
            /** Format: uuid */
            organization_id: string;
            /** @constant */
            type: "payment.updated";
        };
        PersonOfKey: {
            /**
             * @description What the person may call of the admin API for this workspace.
             * @example []
             */
            admin_scopes: ("workspaces:read" | "workspaces:write" | "keys:read" | "keys:write" | "operator-keys:read" | "operator-keys:write" | "connections:read" | "connections:write" | "people:read" | "people:write" | "erasures:write" | "otp:read" | "otp:write" | "billing:read" | "billing:write" | "usage:read" | "audit:read" | "events:read" | "installation:read")[];
            /** @example robin@example.com */
            email: string;
            /**
             * Format: uuid
             * @example 01936f70-0a1b-7c2d-8e3f-4a5b6c7d8ea1
             */
            id: string;
            /** @example Robin Wells */
            name: string;
            /**
             * @description In this workspace.
             * @example agent
             * @enum {string}
             */
            role: "viewer" | "agent" | "developer" | "admin" | "operator";
        };
        /** PlatformErrorEvent */
        PlatformErrorEvent: {
            /**
             * Format: date-time
             * @description When the reported change happened.
             */
            created_at: string;
            /** @description For `after` of GET /events. */
            cursor: string;
            data: {
                code: number | null;
                /** Format: uuid */
                connection_id: string;
                /** Format: date-time */
                occurred_at: string;
                /** @description In our words. */
                summary: string;
                /**
                 * @description Only where POST /webhook/test or /webhook/verify made it: an example.
                 * @constant
                 */
                test?: true;
            };
            /**
             * Format: uuid
             * @description The same for all attempts.
             */
            id: string;
            /** Format: uuid */
            organization_id: string;
            /** @constant */
            type: "platform.error";
        };
        PreviewButtonResponse: {
            /**
             * @description What the button copies.
             * @example 123456
             */
            code?: string;
            /** @example +15550100001 */
            phone_number?: string;
            /** @example Track */
            text: string;
            /** @example URL */
            type: string;
            /** @example https://example.com/t/4711 */
            url?: string;
        };
        PreviewData: {
            /** @example Hello Ana, your order 4711 is on its way. */
            body: string | null;
            buttons: components["schemas"]["PreviewButtonResponse"][];
            /** @example Lucky Shrub */
            footer: string | null;
            header: components["schemas"]["PreviewHeader"] | null;
            /** @example en_US */
            language: string;
            /**
             * @description Variables for which no value was given, such as `body.{{2}}` or `buttons[0].{{1}}`; they are in the texts as they are.
             *     A link whose variable has no value shows its example.
             * @example []
             */
            missing: string[];
            /** @example order_update */
            name: string;
            /**
             * @description Values that no variable takes, by their place from 0, such as `body[2]` or `buttons[1]`; by name where they have names.
             * @example []
             */
            unused: string[];
        };
        PreviewHeader: {
            /**
             * @description TEXT, IMAGE, VIDEO, DOCUMENT, LOCATION ...
             * @example TEXT
             */
            format: string;
            /**
             * @description Null where the header is no text.
             * @example Order 4711
             */
            text: string | null;
        };
        PreviewResponse: {
            data: components["schemas"]["PreviewData"];
        };
        /** PreviewTemplateRequest */
        PreviewTemplateRequest: {
            /** @description The `components` that a message takes: values of header, body, buttons, cards and offers. */
            components?: ({
                type: string;
            } & {
                [key: string]: unknown;
            })[];
            /**
             * @description Default: an approved version goes first.
             * @example en_US
             */
            language?: string;
            /** @description In their place the values alone, as a message takes them: in the order of the numbers, or of the first appearance. */
            parameters?: {
                body?: string[];
                buttons?: string[];
                header?: string[];
            };
            /**
             * @description The template's name.
             * @example order_update
             */
            template_name: string;
        };
        PreviousNamesResponse: {
            /**
             * @example [
             *       "15550100000"
             *     ]
             */
            phones: string[];
            /**
             * @example [
             *       "DE.1794"
             *     ]
             */
            user_ids: string[];
        };
        PricingResponse: {
            /** @example true */
            billable: boolean | null;
            /**
             * @description `utility`, `marketing`, `authentication`, `service` or another.
             * @example utility
             */
            category: string | null;
            /** @example PMP */
            model: string | null;
            /** @example null */
            subtype: string | null;
            /**
             * @description `regular` is charged; what begins with `free_` is not.
             * @example regular
             */
            type: string | null;
        };
        ProfileResponse: {
            /** @example Fresh coffee, open until eight */
            about: string | null;
            /** @example 12 Harbour Street, Dublin */
            address: string | null;
            /** @example We roast our own beans. */
            description: string | null;
            /** @example hello@example.com */
            email: string | null;
            /**
             * Format: uri
             * @description The platform's address of the picture; it works for a few days.
             * @example null
             */
            profile_picture_url: string | null;
            /**
             * Format: date-time
             * @description When it was last changed through this service; null where it never was.
             * @example 2026-11-21T08:00:00.000Z
             */
            updated_at: string | null;
            /**
             * @description The branch of business, in the platform's word; `UNDEFINED` and `NOT_A_BIZ` can be read only.
             * @example RESTAURANT
             */
            vertical: string | null;
            /**
             * @example [
             *       "https://example.com"
             *     ]
             */
            websites: string[];
        };
        ProjectOfKey: {
            /**
             * Format: uuid
             * @example 01936f70-0a1b-7c2d-8e3f-4a5b6c7d8ea0
             */
            id: string;
            /**
             * @description `sandbox` sends nothing.
             * @example live
             * @enum {string}
             */
            mode: "sandbox" | "live";
            /** @example Login */
            name: string;
        };
        PutOptOutRequest: {
            /**
             * @description `marketing`: no marketing templates. `all`: no message of POST /messages at all; one-time codes still go.
             * @example marketing
             * @enum {string}
             */
            category: "marketing" | "all";
            /**
             * @description Where or why they opted out, for your own records.
             * @example Asked on the phone
             */
            reason?: string;
            /** @description Instead of `to`: the person's user id, from `contact.user_id`. */
            recipient?: string;
            /**
             * @description The person's number with its country code, without 00; a leading + may stand before it.
             * @example 15550100001
             */
            to?: string;
        };
        PutTagRequest: {
            /**
             * @description At most so many a minute are let into the queue, whatever your numbers could send. Not for messages with a `send_at` or a retry. null: no limit.
             * @example 600
             */
            messages_per_minute?: number | null;
            /**
             * @description `true`: its messages wait, and before its start no `ttl_seconds` runs. `false`: they go, or wait for `start_at`. Default: as it is, at first `false`.
             * @example true
             */
            paused?: boolean;
            /**
             * Format: date-time
             * @description No message goes before this time. One with a later `send_at` keeps that. null: none. Fixed once the tag has started.
             * @example null
             */
            start_at?: string | null;
        };
        QueuedEventData: {
            /**
             * Format: date-time
             * @example 2026-11-21T08:00:01.250Z
             */
            created_at: string;
            /**
             * Format: uuid
             * @description Find its attempts by it in GET /webhook/deliveries; also the header `webhook-id`.
             * @example 01936f70-1c3d-7a55-9e21-0b1c2d3e4f5a
             */
            event_id: string;
            /**
             * @example webhook.test
             * @enum {string}
             */
            event_type: "message.received" | "message.status.updated" | "message.standby.received" | "message.sent_elsewhere" | "conversation.control.updated" | "conversation.updated" | "template.status.updated" | "template.category.updated" | "media.ready" | "media.failed" | "connection.updated" | "contact.opt_out.updated" | "workspace.limit.reached" | "payment.updated" | "call.missed" | "call.ended" | "platform.error" | "destination.events_lost" | "webhook.test";
            /**
             * @description `held`: the webhook is paused or disabled, and the event waits for it, three days at the most.
             * @example queued
             * @enum {string}
             */
            status: "queued" | "held";
        };
        QueuedEventResponse: {
            data: components["schemas"]["QueuedEventData"];
        };
        QueuedMessage: {
            /**
             * Format: uuid
             * @description The message's id: follow it with GET /messages/{id}.
             * @example 01936f6e-2b5c-7c2e-9d8a-3f1b2a4c5d6e
             */
            id: string;
            /**
             * @example queued
             * @enum {string}
             */
            status: "queued";
        };
        QueuedMessageResponse: {
            data: components["schemas"]["QueuedMessage"];
        };
        RabbitmqData: {
            /** @example herald */
            exchange: string;
            /** @example {type} */
            routing_key: string;
            /** @example amqps://rabbitmq.example.com:5671/production */
            url: string;
            /** @example herald */
            username: string;
        };
        RabbitmqRequest: {
            /**
             * @description Name of an exchange that is there; empty: the default one, whose routing key is the name of a queue.
             * @example herald
             */
            exchange: string;
            /**
             * @description Left out in a change: as it is, unless host or port change.
             * @example s3cret
             */
            password?: string;
            /**
             * @description `{type}` stands for the kind of event, `{conversation}` for the conversation. Default: {type}.
             * @example {type}
             */
            routing_key?: string;
            /**
             * @description Host, port and virtual host; `amqps:` with TLS.
             * @example amqps://rabbitmq.example.com:5671/production
             */
            url: string;
            /** @example herald */
            username: string;
        };
        RateOfKey: {
            /**
             * @description Requests at once.
             * @example 100
             */
            burst: number;
            /**
             * @description Requests a second, over time.
             * @example 50
             */
            per_second: number;
        };
        ReadMessage: {
            /**
             * Format: uuid
             * @example 01936f6e-4d7e-7e4a-8f0c-5b3d4c6e7f80
             */
            id: string;
            /**
             * Format: date-time
             * @description When the message was marked as read for the first time.
             * @example 2026-11-21T08:00:05.125Z
             */
            read_at: string;
            /**
             * Format: date-time
             * @description Until when the customer sees that you are typing, unless you write before; null where that was not asked for.
             * @example 2026-11-21T08:00:30.125Z
             */
            typing_until: string | null;
        };
        ReadMessageRequest: {
            /** @description Show the customer that you are typing as well. Default: false. */
            typing_indicator?: boolean;
        };
        ReadMessageResponse: {
            data: components["schemas"]["ReadMessage"];
        };
        /**
         * ReceivedButton
         * @description `content` of `type`: button.
         */
        ReceivedButton: {
            payload?: string;
            text: string;
        } & {
            [key: string]: unknown;
        };
        /**
         * ReceivedContacts
         * @description `content` of `type`: contacts.
         */
        ReceivedContacts: {
            contacts: ({
                name?: {
                    formatted_name?: string;
                } & {
                    [key: string]: unknown;
                };
            } & {
                [key: string]: unknown;
            })[];
        } & {
            [key: string]: unknown;
        };
        /**
         * ReceivedContent
         * @description By the `type` of the message; of a sent one the object that was sent. Later versions may have more forms.
         */
        ReceivedContent: components["schemas"]["ReceivedText"] | components["schemas"]["ReceivedFile"] | components["schemas"]["ReceivedLocation"] | components["schemas"]["ReceivedContacts"] | components["schemas"]["ReceivedButton"] | components["schemas"]["ReceivedInteractive"] | components["schemas"]["ReceivedReaction"] | components["schemas"]["ReceivedOrder"] | components["schemas"]["ReceivedSystem"] | components["schemas"]["ReceivedEdit"] | components["schemas"]["ReceivedRevoke"] | components["schemas"]["ReceivedUnsupported"] | components["schemas"]["ReceivedOther"];
        /**
         * ReceivedEdit
         * @description `content` of `type`: edit.
         */
        ReceivedEdit: {
            /** @description What it says now, with its `type`. */
            message?: {
                [key: string]: unknown;
            };
            original_message_id: string;
        } & {
            [key: string]: unknown;
        };
        /**
         * ReceivedFile
         * @description `content` of `type`: image, video, audio, document, sticker.
         */
        ReceivedFile: {
            animated?: boolean;
            caption?: string;
            filename?: string;
            id: string;
            mime_type?: string;
            sha256?: string;
            sha256_hex?: string;
            voice?: boolean;
        } & {
            [key: string]: unknown;
        };
        /**
         * ReceivedInteractive
         * @description `content` of `type`: interactive.
         */
        ReceivedInteractive: {
            button_reply?: {
                description?: string;
                id: string;
                title: string;
            } & {
                [key: string]: unknown;
            };
            list_reply?: {
                description?: string;
                id: string;
                title: string;
            } & {
                [key: string]: unknown;
            };
            nfm_reply?: {
                body?: string;
                name?: string;
                response_json: string;
            } & {
                [key: string]: unknown;
            };
            /**
             * @example button_reply
             * @example list_reply
             * @example nfm_reply
             */
            type: string;
        } & {
            [key: string]: unknown;
        };
        /**
         * ReceivedLocation
         * @description `content` of `type`: location.
         */
        ReceivedLocation: {
            address?: string;
            latitude: number;
            longitude: number;
            name?: string;
            url?: string;
        } & {
            [key: string]: unknown;
        };
        /**
         * ReceivedOrder
         * @description `content` of `type`: order.
         */
        ReceivedOrder: {
            catalog_id?: string;
            product_items: ({
                currency?: string;
                item_price?: number;
                product_retailer_id: string;
                quantity?: number;
            } & {
                [key: string]: unknown;
            })[];
            text?: string;
        } & {
            [key: string]: unknown;
        };
        /**
         * ReceivedOther
         * @description What has no form of its own, and kinds that WhatsApp adds later.
         */
        ReceivedOther: {
            [key: string]: unknown;
        };
        /**
         * ReceivedReaction
         * @description `content` of `type`: reaction.
         */
        ReceivedReaction: {
            emoji?: string;
            message_id: string;
        } & {
            [key: string]: unknown;
        };
        /**
         * ReceivedRevoke
         * @description `content` of `type`: revoke.
         */
        ReceivedRevoke: {
            original_message_id: string;
        } & {
            [key: string]: unknown;
        };
        /**
         * ReceivedSystem
         * @description `content` of `type`: system.
         */
        ReceivedSystem: {
            body: string;
            type?: string;
            user_id?: string;
            wa_id?: string;
        } & {
            [key: string]: unknown;
        };
        /**
         * ReceivedText
         * @description `content` of `type`: text.
         */
        ReceivedText: {
            body: string;
        } & {
            [key: string]: unknown;
        };
        /**
         * ReceivedUnsupported
         * @description `content` of `type`: unsupported.
         */
        ReceivedUnsupported: {
            errors: ({
                code?: number;
                message?: string;
                title?: string;
            } & {
                [key: string]: unknown;
            })[];
        } & {
            [key: string]: unknown;
        };
        RenderedButtonResponse: {
            /** @example 123456 */
            code?: string;
            /** @example +15550100001 */
            phone_number?: string;
            /** @example Track */
            text: string;
            /** @example URL */
            type: string;
            /** @example https://example.com/t/4711 */
            url?: string;
        };
        RenderedHeader: {
            /** @example TEXT */
            format: string;
            /** @example Order 4711 */
            text: string | null;
        };
        RenderedMessageResponse: {
            /** @example Your table for two is ready. */
            body: string | null;
            /** @example [] */
            buttons: components["schemas"]["RenderedButtonResponse"][];
            /** @example null */
            footer: string | null;
            /** @example null */
            header: components["schemas"]["RenderedHeader"] | null;
        };
        ReplayData: {
            /**
             * Format: date-time
             * @example 2026-11-20T10:32:02.125Z
             */
            created_at: string;
            /**
             * @description How many of them are queued again, the oldest first; at most twenty of them still wait for their attempt.
             * @example 1200
             */
            done: number;
            /**
             * Format: date-time
             * @description When the last event was put in line; null until then.
             * @example null
             */
            finished_at: string | null;
            /**
             * Format: uuid
             * @example 01936f72-6f70-7c63-8d4e-8e9f0a1b2c3d
             */
            id: string;
            /**
             * @description `paused`: the webhook is paused or disabled; the replay goes on once it is active again, within three days.
             * @example running
             * @enum {string}
             */
            status: "running" | "paused" | "done";
            /**
             * @description How many events there are.
             * @example 4711
             */
            total: number;
        };
        ReplayDestinationRequest: {
            /**
             * Format: date-time
             * @description Events of this time and later are written again, in their order and under their ids, then those that wait.
             * @example 2026-11-20T08:00:00.000Z
             */
            since: string;
        };
        ReplayedMessage: {
            /**
             * Format: uuid
             * @example 01936f6e-2b5c-7c2e-9d8a-3f1b2a4c5d6e
             */
            id: string;
            /** @example 1 */
            index: number;
        };
        ReplayResponse: {
            data: components["schemas"]["ReplayData"];
        };
        RetryAdviceResponse: {
            /** @example false */
            advised: boolean;
            /**
             * Format: date-time
             * @description Not before this time; null: at once, or not at all.
             * @example null
             */
            not_before: string | null;
        };
        RetryMessageRequest: {
            /** @description Send again although the message may have been sent already. Default: false. */
            confirm_outcome_unknown?: boolean;
        };
        RetryTagRequest: {
            /**
             * @description Only messages with this `failure_category`. Default: all but `canceled` and `opted_out`.
             * @example invalid_recipient
             * @enum {string}
             */
            category?: "invalid_recipient" | "recipient_unreachable" | "service_window_closed" | "template_unavailable" | "invalid_content" | "media_error" | "rate_limited" | "recipient_limit" | "opted_out" | "not_conversation_owner" | "account_restricted" | "sender_not_ready" | "authentication" | "platform_unavailable" | "expired" | "canceled" | "unknown";
        };
        /** SendAddressRequest */
        SendAddressRequest: components["schemas"]["EveryMessage"] & {
            interactive: {
                action: {
                    /** @constant */
                    name: "address_message";
                    parameters: {
                        /**
                         * @description ISO code. WhatsApp offers this to businesses in India, for customers with numbers of India.
                         * @example IN
                         */
                        country: string;
                        /** @description Addresses to choose from. */
                        saved_addresses?: {
                            id: string;
                            /** @description An address, by field. */
                            value: {
                                [key: string]: unknown;
                            };
                        }[];
                        /** @description What was wrong with an earlier answer, by field. */
                        validation_errors?: {
                            [key: string]: unknown;
                        };
                        /** @description What the form shows to begin with, by field. */
                        values?: {
                            [key: string]: unknown;
                        };
                    };
                };
                body: {
                    /** @description The text. */
                    text: string;
                };
                footer?: {
                    text: string;
                };
                header?: {
                    text: string;
                    /** @constant */
                    type: "text";
                } | {
                    /** @description Exactly one of `id` and `link` is given. */
                    image: {
                        /** @description Id of a file: ours from POST /media, or one of the platform. */
                        id?: string;
                        /**
                         * Format: uri
                         * @description Address of the file for the platform; starts with https://.
                         * @example https://example.com/menu.pdf
                         */
                        link?: string;
                    };
                    /** @constant */
                    type: "image";
                } | {
                    /** @constant */
                    type: "video";
                    /** @description Exactly one of `id` and `link` is given. */
                    video: {
                        /** @description Id of a file: ours from POST /media, or one of the platform. */
                        id?: string;
                        /**
                         * Format: uri
                         * @description Address of the file for the platform; starts with https://.
                         * @example https://example.com/menu.pdf
                         */
                        link?: string;
                    };
                } | {
                    /** @description Exactly one of `id` and `link` is given. */
                    document: {
                        filename?: string;
                        /** @description Id of a file: ours from POST /media, or one of the platform. */
                        id?: string;
                        /**
                         * Format: uri
                         * @description Address of the file for the platform; starts with https://.
                         * @example https://example.com/menu.pdf
                         */
                        link?: string;
                    };
                    /** @constant */
                    type: "document";
                };
                /** @constant */
                type: "address_message";
            };
            /** @constant */
            type: "interactive";
        };
        /** SendAudio */
        SendAudio: components["schemas"]["EveryMessage"] & {
            /** @description The file: `id` or `link`, or neither where `media_object_id` names it. */
            media: {
                /** @description Text under an image, a video or a document; other kinds are sent without it. */
                caption?: string;
                /** @description Name under which a document is shown; other kinds are sent without it. */
                filename?: string;
                /** @description Id of a file: ours from POST /media, or one of the platform. */
                id?: string;
                /**
                 * Format: uri
                 * @description Address of the file for the platform; starts with https://.
                 * @example https://example.com/menu.pdf
                 */
                link?: string;
                /** @description Send audio (ogg with Opus) as a voice note; other kinds are sent without it. */
                voice?: boolean;
            };
            /** @constant */
            type: "audio";
        };
        SendBatchResponse: {
            data: components["schemas"]["BatchedMessage"][];
            /** @example [] */
            errors: ({
                code: string;
                details: components["schemas"]["ErrorDetail"][];
                index: number;
                message: string;
            } & {
                [key: string]: unknown;
            })[];
        };
        /** SendCarousel */
        SendCarousel: components["schemas"]["EveryMessage"] & {
            interactive: {
                action: {
                    /** @description Link buttons, as many quick replies, or products on all of them. */
                    cards: ({
                        action: {
                            /** @constant */
                            name: "cta_url";
                            parameters: {
                                /**
                                 * @description Label of the button.
                                 * @example See the menu
                                 */
                                display_text: string;
                                /**
                                 * Format: uri
                                 * @description What the button opens.
                                 * @example https://example.com/menu
                                 */
                                url: string;
                            };
                        } | {
                            buttons: {
                                quick_reply: {
                                    /** @description Comes back when the customer taps. */
                                    id: string;
                                    /** @description Label of the button. */
                                    title: string;
                                };
                                /** @constant */
                                type: "quick_reply";
                            }[];
                        };
                        body?: {
                            /** @description At most two line breaks. */
                            text: string;
                        };
                        /**
                         * @description Place of the card, each one once.
                         * @example 0
                         */
                        card_index: number;
                        header: {
                            /** @description Exactly one of `id` and `link` is given. */
                            image: {
                                /** @description Id of a file: ours from POST /media, or one of the platform. */
                                id?: string;
                                /**
                                 * Format: uri
                                 * @description Address of the file for the platform; starts with https://.
                                 * @example https://example.com/menu.pdf
                                 */
                                link?: string;
                            };
                            /** @constant */
                            type: "image";
                        } | {
                            /** @constant */
                            type: "video";
                            /** @description Exactly one of `id` and `link` is given. */
                            video: {
                                /** @description Id of a file: ours from POST /media, or one of the platform. */
                                id?: string;
                                /**
                                 * Format: uri
                                 * @description Address of the file for the platform; starts with https://.
                                 * @example https://example.com/menu.pdf
                                 */
                                link?: string;
                            };
                        };
                        /** @enum {string} */
                        type?: "cta_url" | "button" | "quick_reply";
                    } | {
                        action: {
                            /**
                             * @description Id of the catalog that is connected to the account.
                             * @example 194836987003835
                             */
                            catalog_id: string;
                            /**
                             * @description Your own id of the product, as the catalog has it.
                             * @example coffee-250
                             */
                            product_retailer_id: string;
                        };
                        /**
                         * @description Place of the card, each one once.
                         * @example 0
                         */
                        card_index: number;
                        /** @constant */
                        type: "product";
                    })[];
                };
                body: {
                    /** @description The text. */
                    text: string;
                };
                /** @constant */
                type: "carousel";
            };
            /** @constant */
            type: "interactive";
        };
        /** SendCatalog */
        SendCatalog: components["schemas"]["EveryMessage"] & {
            interactive: {
                action: {
                    /** @constant */
                    name: "catalog_message";
                    parameters?: {
                        /**
                         * @description Your own id of the product, as the catalog has it.
                         * @example coffee-250
                         */
                        thumbnail_product_retailer_id?: string;
                    };
                };
                body: {
                    /** @description The text. */
                    text: string;
                };
                footer?: {
                    text: string;
                };
                /** @constant */
                type: "catalog_message";
            };
            /** @constant */
            type: "interactive";
        };
        /** SendContactRequest */
        SendContactRequest: components["schemas"]["EveryMessage"] & {
            interactive: {
                action: {
                    /** @constant */
                    name: "request_contact_info";
                };
                body: {
                    /** @description The text. */
                    text: string;
                };
                footer?: {
                    text: string;
                };
                header?: {
                    text: string;
                    /** @constant */
                    type: "text";
                };
                /** @constant */
                type: "request_contact_info";
            };
            /** @constant */
            type: "interactive";
        };
        /** SendContacts */
        SendContacts: components["schemas"]["EveryMessage"] & {
            /** @description What the recipient can save, each with a name. */
            contacts: {
                addresses?: {
                    city?: string;
                    country?: string;
                    /** @description Two letters. */
                    country_code?: string;
                    state?: string;
                    street?: string;
                    /**
                     * @description WORK, HOME or another word.
                     * @example WORK
                     */
                    type?: string;
                    zip?: string;
                }[];
                /** @example 1990-01-31 */
                birthday?: string;
                emails?: {
                    email?: string;
                    /**
                     * @description WORK, HOME or another word.
                     * @example WORK
                     */
                    type?: string;
                }[];
                name: {
                    first_name?: string;
                    /**
                     * @description Full name.
                     * @example Ana Lima
                     */
                    formatted_name: string;
                    last_name?: string;
                    middle_name?: string;
                    prefix?: string;
                    suffix?: string;
                };
                org?: {
                    company?: string;
                    department?: string;
                    title?: string;
                };
                phones?: {
                    /** @description The number as it is shown. */
                    phone?: string;
                    /**
                     * @description WORK, HOME or another word.
                     * @example WORK
                     */
                    type?: string;
                    /** @description Digits of the contact's WhatsApp number; with it the card offers to write to them. */
                    wa_id?: string;
                }[];
                urls?: {
                    /**
                     * @description WORK, HOME or another word.
                     * @example WORK
                     */
                    type?: string;
                    url?: string;
                }[];
            }[];
            /** @constant */
            type: "contacts";
        };
        /** SendCtaUrl */
        SendCtaUrl: components["schemas"]["EveryMessage"] & {
            interactive: {
                action: {
                    /** @constant */
                    name: "cta_url";
                    parameters: {
                        /**
                         * @description Label of the button.
                         * @example See the menu
                         */
                        display_text: string;
                        /**
                         * Format: uri
                         * @description What the button opens.
                         * @example https://example.com/menu
                         */
                        url: string;
                    };
                };
                body: {
                    /** @description The text. */
                    text: string;
                };
                footer?: {
                    text: string;
                };
                header?: {
                    text: string;
                    /** @constant */
                    type: "text";
                } | {
                    /** @description Exactly one of `id` and `link` is given. */
                    image: {
                        /** @description Id of a file: ours from POST /media, or one of the platform. */
                        id?: string;
                        /**
                         * Format: uri
                         * @description Address of the file for the platform; starts with https://.
                         * @example https://example.com/menu.pdf
                         */
                        link?: string;
                    };
                    /** @constant */
                    type: "image";
                } | {
                    /** @constant */
                    type: "video";
                    /** @description Exactly one of `id` and `link` is given. */
                    video: {
                        /** @description Id of a file: ours from POST /media, or one of the platform. */
                        id?: string;
                        /**
                         * Format: uri
                         * @description Address of the file for the platform; starts with https://.
                         * @example https://example.com/menu.pdf
                         */
                        link?: string;
                    };
                } | {
                    /** @description Exactly one of `id` and `link` is given. */
                    document: {
                        filename?: string;
                        /** @description Id of a file: ours from POST /media, or one of the platform. */
                        id?: string;
                        /**
                         * Format: uri
                         * @description Address of the file for the platform; starts with https://.
                         * @example https://example.com/menu.pdf
                         */
                        link?: string;
                    };
                    /** @constant */
                    type: "document";
                };
                /** @constant */
                type: "cta_url";
            };
            /** @constant */
            type: "interactive";
        };
        /** SendDocument */
        SendDocument: components["schemas"]["EveryMessage"] & {
            /** @description The file: `id` or `link`, or neither where `media_object_id` names it. */
            media: {
                /** @description Text under an image, a video or a document; other kinds are sent without it. */
                caption?: string;
                /** @description Name under which a document is shown; other kinds are sent without it. */
                filename?: string;
                /** @description Id of a file: ours from POST /media, or one of the platform. */
                id?: string;
                /**
                 * Format: uri
                 * @description Address of the file for the platform; starts with https://.
                 * @example https://example.com/menu.pdf
                 */
                link?: string;
                /** @description Send audio (ogg with Opus) as a voice note; other kinds are sent without it. */
                voice?: boolean;
            };
            /** @constant */
            type: "document";
        };
        /** SendFlow */
        SendFlow: components["schemas"]["EveryMessage"] & {
            interactive: {
                action: {
                    /** @constant */
                    name: "flow";
                    /** @description Exactly one of `flow_id` and `flow_name` is given. */
                    parameters: {
                        /** @enum {string} */
                        flow_action?: "navigate" | "data_exchange";
                        /** @description The first screen and its data. */
                        flow_action_payload?: {
                            data?: {
                                [key: string]: unknown;
                            };
                            screen?: string;
                        } & {
                            [key: string]: unknown;
                        };
                        /**
                         * @description Label of the button.
                         * @example Book a table
                         */
                        flow_cta: string;
                        /**
                         * @description Id of the flow; or give its name.
                         * @example 1247865123456789
                         */
                        flow_id?: string;
                        /**
                         * @description Version of the message: 3.
                         * @example 3
                         */
                        flow_message_version: string;
                        /**
                         * @description Name of the flow; or give its id.
                         * @example book_a_table
                         */
                        flow_name?: string;
                        /** @description Your own word, which the answer repeats. */
                        flow_token?: string;
                        /**
                         * @description draft sends a flow that is not published yet.
                         * @enum {string}
                         */
                        mode?: "draft" | "published";
                    };
                };
                body: {
                    /** @description The text. */
                    text: string;
                };
                footer?: {
                    text: string;
                };
                header?: {
                    text: string;
                    /** @constant */
                    type: "text";
                } | {
                    /** @description Exactly one of `id` and `link` is given. */
                    image: {
                        /** @description Id of a file: ours from POST /media, or one of the platform. */
                        id?: string;
                        /**
                         * Format: uri
                         * @description Address of the file for the platform; starts with https://.
                         * @example https://example.com/menu.pdf
                         */
                        link?: string;
                    };
                    /** @constant */
                    type: "image";
                } | {
                    /** @constant */
                    type: "video";
                    /** @description Exactly one of `id` and `link` is given. */
                    video: {
                        /** @description Id of a file: ours from POST /media, or one of the platform. */
                        id?: string;
                        /**
                         * Format: uri
                         * @description Address of the file for the platform; starts with https://.
                         * @example https://example.com/menu.pdf
                         */
                        link?: string;
                    };
                } | {
                    /** @description Exactly one of `id` and `link` is given. */
                    document: {
                        filename?: string;
                        /** @description Id of a file: ours from POST /media, or one of the platform. */
                        id?: string;
                        /**
                         * Format: uri
                         * @description Address of the file for the platform; starts with https://.
                         * @example https://example.com/menu.pdf
                         */
                        link?: string;
                    };
                    /** @constant */
                    type: "document";
                };
                /** @constant */
                type: "flow";
            };
            /** @constant */
            type: "interactive";
        };
        /** SendImage */
        SendImage: components["schemas"]["EveryMessage"] & {
            /** @description The file: `id` or `link`, or neither where `media_object_id` names it. */
            media: {
                /** @description Text under an image, a video or a document; other kinds are sent without it. */
                caption?: string;
                /** @description Name under which a document is shown; other kinds are sent without it. */
                filename?: string;
                /** @description Id of a file: ours from POST /media, or one of the platform. */
                id?: string;
                /**
                 * Format: uri
                 * @description Address of the file for the platform; starts with https://.
                 * @example https://example.com/menu.pdf
                 */
                link?: string;
                /** @description Send audio (ogg with Opus) as a voice note; other kinds are sent without it. */
                voice?: boolean;
            };
            /** @constant */
            type: "image";
        };
        /** SendInteractive */
        SendInteractive: components["schemas"]["EveryMessage"] & {
            interactive: {
                /**
                 * @description In the platform's own format, passed on as it is: `buttons` (1 to 3) for reply buttons, `button` and `sections`
                 *     (up to 10 rows) for a list. A message whose action the platform refuses fails with `invalid_content`.
                 */
                action: {
                    [key: string]: unknown;
                };
                body: {
                    /** @description The text. */
                    text: string;
                } & {
                    [key: string]: unknown;
                };
                footer?: {
                    text: string;
                } & {
                    [key: string]: unknown;
                };
                header?: ({
                    text: string;
                    /** @constant */
                    type: "text";
                } & {
                    [key: string]: unknown;
                }) | ({
                    /** @example image */
                    type: string;
                } & {
                    [key: string]: unknown;
                });
                /** @constant */
                type: "button";
            } | {
                /**
                 * @description In the platform's own format, passed on as it is: `buttons` (1 to 3) for reply buttons, `button` and `sections`
                 *     (up to 10 rows) for a list. A message whose action the platform refuses fails with `invalid_content`.
                 */
                action: {
                    [key: string]: unknown;
                };
                body: {
                    /** @description The text. */
                    text: string;
                } & {
                    [key: string]: unknown;
                };
                footer?: {
                    text: string;
                } & {
                    [key: string]: unknown;
                };
                header?: {
                    text: string;
                    /** @constant */
                    type: "text";
                } & {
                    [key: string]: unknown;
                };
                /** @constant */
                type: "list";
            };
            /** @constant */
            type: "interactive";
        };
        /** SendLegacyText */
        SendLegacyText: components["schemas"]["EveryMessage"] & {
            /**
             * @description The text.
             * @example Your table is ready.
             */
            body: string;
        };
        /** SendLocation */
        SendLocation: components["schemas"]["EveryMessage"] & {
            location: {
                /**
                 * @description Shown under the name.
                 * @example 1 Harbour Road, Dublin
                 */
                address?: string;
                /**
                 * @description Degrees; north is positive.
                 * @example 53.3498
                 */
                latitude: number | string;
                /**
                 * @description Degrees; east is positive.
                 * @example -6.2603
                 */
                longitude: number | string;
                /**
                 * @description Name of the place.
                 * @example Lighthouse Coffee
                 */
                name?: string;
            };
            /** @constant */
            type: "location";
        };
        /** SendLocationRequest */
        SendLocationRequest: components["schemas"]["EveryMessage"] & {
            interactive: {
                action: {
                    /** @constant */
                    name: "send_location";
                };
                body: {
                    /** @description The text. */
                    text: string;
                };
                footer?: {
                    text: string;
                };
                /** @constant */
                type: "location_request_message";
            };
            /** @constant */
            type: "interactive";
        };
        /**
         * SendMessage
         * @description One of the forms below; `type` and, of interactive messages, `interactive.type` say which.
         */
        SendMessage: components["schemas"]["SendText"] | components["schemas"]["SendLegacyText"] | components["schemas"]["SendImage"] | components["schemas"]["SendVideo"] | components["schemas"]["SendAudio"] | components["schemas"]["SendDocument"] | components["schemas"]["SendSticker"] | components["schemas"]["SendTemplate"] | components["schemas"]["SendInteractive"] | components["schemas"]["SendCtaUrl"] | components["schemas"]["SendFlow"] | components["schemas"]["SendLocationRequest"] | components["schemas"]["SendContactRequest"] | components["schemas"]["SendProduct"] | components["schemas"]["SendProductList"] | components["schemas"]["SendCatalog"] | components["schemas"]["SendCarousel"] | components["schemas"]["SendAddressRequest"] | components["schemas"]["SendLocation"] | components["schemas"]["SendContacts"] | components["schemas"]["SendReaction"];
        SendOtpRequest: {
            /**
             * @description How it is sent; WhatsApp is the only way. Default: whatsapp.
             * @enum {string}
             */
            channel?: "whatsapp";
            /**
             * @description The user's number with its country code.
             * @example +15550001234
             */
            to: string;
            /** @description Seconds for which the code is valid. Default: 300. */
            ttl?: number;
        };
        /** SendProduct */
        SendProduct: components["schemas"]["EveryMessage"] & {
            interactive: {
                action: {
                    /**
                     * @description Id of the catalog that is connected to the account.
                     * @example 194836987003835
                     */
                    catalog_id: string;
                    /**
                     * @description Your own id of the product, as the catalog has it.
                     * @example coffee-250
                     */
                    product_retailer_id: string;
                };
                body?: {
                    /** @description The text. */
                    text: string;
                };
                footer?: {
                    text: string;
                };
                /** @constant */
                type: "product";
            };
            /** @constant */
            type: "interactive";
        };
        /** SendProductList */
        SendProductList: components["schemas"]["EveryMessage"] & {
            interactive: {
                action: {
                    /**
                     * @description Id of the catalog that is connected to the account.
                     * @example 194836987003835
                     */
                    catalog_id: string;
                    /** @description Up to 30 products in all. */
                    sections: {
                        product_items: {
                            /**
                             * @description Your own id of the product, as the catalog has it.
                             * @example coffee-250
                             */
                            product_retailer_id: string;
                        }[];
                        /** @description Required where there are several sections. */
                        title?: string;
                    }[];
                };
                body: {
                    /** @description The text. */
                    text: string;
                };
                footer?: {
                    text: string;
                };
                header: {
                    text: string;
                    /** @constant */
                    type: "text";
                };
                /** @constant */
                type: "product_list";
            };
            /** @constant */
            type: "interactive";
        };
        /** SendReaction */
        SendReaction: components["schemas"]["EveryMessage"] & {
            reaction: {
                /**
                 * @description One emoji; empty takes the reaction back.
                 * @example 👍
                 */
                emoji: string;
            };
            /**
             * Format: uuid
             * @description The message to react to.
             */
            reply_to_message_id: string;
            /** @constant */
            type: "reaction";
        };
        /** SendSticker */
        SendSticker: components["schemas"]["EveryMessage"] & {
            /** @description The file: `id` or `link`, or neither where `media_object_id` names it. */
            media: {
                /** @description Text under an image, a video or a document; other kinds are sent without it. */
                caption?: string;
                /** @description Name under which a document is shown; other kinds are sent without it. */
                filename?: string;
                /** @description Id of a file: ours from POST /media, or one of the platform. */
                id?: string;
                /**
                 * Format: uri
                 * @description Address of the file for the platform; starts with https://.
                 * @example https://example.com/menu.pdf
                 */
                link?: string;
                /** @description Send audio (ogg with Opus) as a voice note; other kinds are sent without it. */
                voice?: boolean;
            };
            /** @constant */
            type: "sticker";
        };
        /** SendTemplate */
        SendTemplate: components["schemas"]["EveryMessage"] & {
            template: {
                /** @description Values of the template's variables, as the platform takes them. */
                components?: ({
                    /** @description header, body, button, carousel ... */
                    type: string;
                } & {
                    [key: string]: unknown;
                })[];
                language: ({
                    /**
                     * @description Language of the template.
                     * @example en_US
                     */
                    code: string;
                } & {
                    [key: string]: unknown;
                }) | string;
                /**
                 * @description Name of an approved template.
                 * @example order_update
                 */
                name: string;
                /** @description In the place of `components`: the values alone. */
                parameters?: {
                    /** @description In the order of the numbers, or of the first appearance. */
                    body?: string[];
                    /** @description Of the buttons that have a variable, in their order. */
                    buttons?: string[];
                    /** @description Texts, or the file: an `https://` address or the file's id. */
                    header?: string[];
                };
            } & {
                [key: string]: unknown;
            };
            /** @constant */
            type: "template";
        };
        /** SendText */
        SendText: components["schemas"]["EveryMessage"] & {
            text: {
                /**
                 * @description The text.
                 * @example Your table is ready.
                 */
                body: string;
                /** @description Show a preview of the first link. Default: false. */
                preview_url?: boolean;
            };
            /** @constant */
            type: "text";
        };
        /** SendVideo */
        SendVideo: components["schemas"]["EveryMessage"] & {
            /** @description The file: `id` or `link`, or neither where `media_object_id` names it. */
            media: {
                /** @description Text under an image, a video or a document; other kinds are sent without it. */
                caption?: string;
                /** @description Name under which a document is shown; other kinds are sent without it. */
                filename?: string;
                /** @description Id of a file: ours from POST /media, or one of the platform. */
                id?: string;
                /**
                 * Format: uri
                 * @description Address of the file for the platform; starts with https://.
                 * @example https://example.com/menu.pdf
                 */
                link?: string;
                /** @description Send audio (ogg with Opus) as a voice note; other kinds are sent without it. */
                voice?: boolean;
            };
            /** @constant */
            type: "video";
        };
        SingleConversationResponse: {
            data: components["schemas"]["ConversationResponse"];
        };
        SingleDeliveryResponse: {
            data: components["schemas"]["DeliveryWithEvent"];
        };
        SingleMediaResponse: {
            data: components["schemas"]["MediaResponse"];
        };
        SingleMessageResponse: {
            data: components["schemas"]["MessageResponse"];
        };
        SingleOptOutResponse: {
            data: components["schemas"]["OptOutResponse"];
        };
        SingleOtpResponse: {
            data: components["schemas"]["OtpChallengeResponse"];
        };
        SingleProfileResponse: {
            data: components["schemas"]["ProfileResponse"];
        };
        SingleTagResponse: {
            data: components["schemas"]["TagResponse"];
        };
        SingleTemplateResponse: {
            data: components["schemas"]["TemplateResponse"];
        };
        SqsData: {
            /** @example AKIAIOSFODNN7EXAMPLE */
            access_key_id: string;
            /** @example https://sqs.eu-central-1.amazonaws.com/123456789012/herald.fifo */
            queue_url: string;
            /** @example eu-central-1 */
            region: string;
        };
        SqsRequest: {
            /** @example AKIAIOSFODNN7EXAMPLE */
            access_key_id: string;
            /**
             * @description Of the queue, as AWS shows it. One that ends with `.fifo` keeps the order of each conversation.
             * @example https://sqs.eu-central-1.amazonaws.com/123456789012/herald.fifo
             */
            queue_url: string;
            /** @example eu-central-1 */
            region: string;
            /**
             * @description Left out in a change: as it is, unless the host of the queue changes.
             * @example wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY
             */
            secret_access_key?: string;
            /**
             * @description Of temporary credentials.
             * @example AQoDYXdzEJr
             */
            session_token?: string;
        };
        StartReplayRequest: {
            /**
             * Format: date-time
             * @description From this time on: events of which an attempt to deliver began then or later.
             * @example 2026-11-20T08:00:00.000Z
             */
            since: string;
            /**
             * @description `failed`: those that were not delivered until now, also where more attempts are planned. `all`: delivered ones too. Default: failed.
             * @example failed
             * @enum {string}
             */
            status?: "failed" | "all";
            /**
             * @description Only events of these kinds. Left out: of all.
             * @example [
             *       "message.received"
             *     ]
             */
            types?: ("message.received" | "message.status.updated" | "message.standby.received" | "message.sent_elsewhere" | "conversation.control.updated" | "conversation.updated" | "template.status.updated" | "template.category.updated" | "media.ready" | "media.failed" | "connection.updated" | "contact.opt_out.updated" | "workspace.limit.reached" | "payment.updated" | "call.missed" | "call.ended" | "platform.error" | "destination.events_lost" | "webhook.test")[];
            /**
             * Format: date-time
             * @description Up to this time, and not at it. Left out: now.
             * @example 2026-11-20T10:30:00.000Z
             */
            until?: string;
        };
        TagActionResponse: {
            data: components["schemas"]["TagActionResult"];
        };
        TagActionResult: {
            /**
             * @example pause
             * @enum {string}
             */
            action: "pause" | "resume" | "cancel" | "retry";
            /**
             * @description Messages that it is about, as they are counted at this moment: those that wait, or for a retry those that failed.
             * @example 1800
             */
            messages: number;
            /**
             * @example paused
             * @enum {string}
             */
            status: "active" | "paused" | "scheduled" | "resuming" | "canceling" | "retrying";
            /** @example spring-sale */
            tag: string;
        };
        TagListItem: {
            /**
             * @description Messages by status.
             * @example {
             *       "queued": 1800,
             *       "delivered": 2400,
             *       "read": 725,
             *       "failed": 75
             *     }
             */
            counts: {
                [key: string]: number;
            };
            /**
             * Format: date-time
             * @description When it was made: by its first message, or before by PUT /tags/{tag}. Lists are in this order.
             * @example 2026-11-21T08:00:00.125Z
             */
            created_at: string;
            /**
             * @description Failed messages by `failure_category`.
             * @example {
             *       "invalid_recipient": 75
             *     }
             */
            failures: {
                [key: string]: number;
            };
            /**
             * Format: date-time
             * @description null: it has no message yet.
             * @example 2026-11-21T08:00:00.125Z
             */
            first_accepted_at: string | null;
            last_action: components["schemas"]["LastTagAction"] | null;
            /**
             * Format: date-time
             * @description When Herald last learned or decided something of one of its messages; null: it has none yet.
             * @example 2026-11-21T08:00:00.125Z
             */
            last_activity_at: string | null;
            /** @example 5000 */
            messages: number;
            /** @example null */
            messages_per_minute: number | null;
            /** @example false */
            paused: boolean;
            /**
             * @description Of the queued ones: whose `send_at` has not come.
             * @example 0
             */
            scheduled: number;
            /**
             * Format: date-time
             * @description As PUT /tags/{tag} was given.
             * @example null
             */
            start_at: string | null;
            /**
             * @description `scheduled`: it waits for its `start_at`.
             * @example active
             * @enum {string}
             */
            status: "active" | "paused" | "scheduled" | "resuming" | "canceling" | "retrying";
            /** @example spring-sale */
            tag: string;
        };
        TagListResponse: {
            data: components["schemas"]["TagListItem"][];
            pagination: components["schemas"]["TagPagination"];
        };
        TagPagination: {
            /**
             * Format: date-time
             * @description Pass it as `before` for the next page; null on the last one.
             * @example 2026-11-21T08:00:00.125Z
             */
            next_before: string | null;
            /**
             * Format: uuid
             * @description Pass it as `before_id` together with `before`.
             * @example null
             */
            next_before_id: string | null;
        };
        TagResponse: {
            /**
             * @description Always `true`: all messages are counted, however many there are.
             * @example true
             */
            complete: boolean;
            /**
             * @description Messages by status.
             * @example {
             *       "queued": 1800,
             *       "delivered": 2400,
             *       "read": 725,
             *       "failed": 75
             *     }
             */
            counts: {
                [key: string]: number;
            };
            /**
             * Format: date-time
             * @description When it was made: by its first message, or before by PUT /tags/{tag}. Lists are in this order.
             * @example 2026-11-21T08:00:00.125Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When the last one leaves, by the queues and pace of its numbers; null where nothing waits or can go.
             * @example 2026-11-21T08:01:02.500Z
             */
            estimated_end_at: string | null;
            /**
             * @description Failed messages by `failure_category`.
             * @example {
             *       "invalid_recipient": 75
             *     }
             */
            failures: {
                [key: string]: number;
            };
            /**
             * Format: date-time
             * @description null: it has no message yet.
             * @example 2026-11-21T08:00:00.125Z
             */
            first_accepted_at: string | null;
            last_action: components["schemas"]["LastTagAction"] | null;
            /**
             * Format: date-time
             * @description When Herald last learned or decided something of one of its messages; null: it has none yet.
             * @example 2026-11-21T08:00:00.125Z
             */
            last_activity_at: string | null;
            /** @example 5000 */
            messages: number;
            /** @example null */
            messages_per_minute: number | null;
            /** @example false */
            paused: boolean;
            /**
             * @description Of the queued ones: whose `send_at` has not come.
             * @example 0
             */
            scheduled: number;
            /**
             * Format: date-time
             * @description As PUT /tags/{tag} was given.
             * @example null
             */
            start_at: string | null;
            /**
             * @description `scheduled`: it waits for its `start_at`.
             * @example active
             * @enum {string}
             */
            status: "active" | "paused" | "scheduled" | "resuming" | "canceling" | "retrying";
            /** @example spring-sale */
            tag: string;
        };
        /** TemplateCategoryUpdatedEvent */
        TemplateCategoryUpdatedEvent: {
            /**
             * Format: date-time
             * @description When the reported change happened.
             */
            created_at: string;
            /** @description For `after` of GET /events. */
            cursor: string;
            data: {
                /** @description What it is going to be; null where nothing is announced. */
                announced_category: string | null;
                /**
                 * Format: date-time
                 * @description When it changes, where the platform said so.
                 */
                announced_for: string | null;
                /**
                 * @description The present one.
                 * @enum {string}
                 */
                category: "UTILITY" | "MARKETING" | "AUTHENTICATION";
                /** @description The numbers of its account, all of which may send it. */
                connection_ids: string[];
                language: string;
                name: string;
                /**
                 * Format: date-time
                 * @description By the platform, in whole seconds, or when Herald learnt of it.
                 */
                occurred_at: string;
                /** @description Null where the category has not changed yet. */
                previous_category: string | null;
                /** Format: uuid */
                template_id: string;
                /**
                 * @description Only where POST /webhook/test or /webhook/verify made it: an example.
                 * @constant
                 */
                test?: true;
            };
            /**
             * Format: uuid
             * @description The same for all attempts.
             */
            id: string;
            /** Format: uuid */
            organization_id: string;
            /** @constant */
            type: "template.category.updated";
        };
        TemplateListResponse: {
            data: components["schemas"]["TemplateResponse"][];
            pagination: components["schemas"]["TemplatePagination"];
        };
        TemplatePagination: {
            /**
             * @description Pass it as `after` for the next page; null where no more follow.
             * @example null
             */
            next_after: string | null;
        };
        TemplateResponse: {
            /**
             * @description The category that the platform announced for this template; null where it announced none.
             * @example null
             * @enum {string|null}
             */
            announced_category: "UTILITY" | "MARKETING" | "AUTHENTICATION" | null;
            /**
             * Format: date-time
             * @description When the announced category is going to be the template's; null where the platform did not say it.
             * @example null
             */
            announced_for: string | null;
            /**
             * @description The platform may change it, and reports that.
             * @example UTILITY
             * @enum {string}
             */
            category: "UTILITY" | "MARKETING" | "AUTHENTICATION";
            /**
             * @description The parts of the template, in the platform's own format.
             * @example [
             *       {
             *         "type": "BODY",
             *         "text": "Hello {{1}}, your order {{2}} is on its way.",
             *         "example": {
             *           "body_text": [
             *             [
             *               "Ana",
             *               "4711"
             *             ]
             *           ]
             *         }
             *       }
             *     ]
             */
            components: ({
                type: string;
            } & {
                [key: string]: unknown;
            })[];
            /**
             * Format: uuid
             * @description The connection that was asked; all numbers of one account share their templates.
             * @example 01936f6d-0a1b-7f00-8c11-5a6b7c8d9e0f
             */
            connection_id: string;
            /**
             * Format: date-time
             * @example 2026-11-21T08:00:00.000Z
             */
            created_at: string;
            /**
             * @description What kind of file a message puts into the header, as `media_object_id`; null: none.
             * @example null
             */
            header_media: components["schemas"]["HeaderMediaResponse"] | null;
            /**
             * Format: uuid
             * @example 01936f70-11aa-7b2c-9c3d-4e5f60718293
             */
            id: string;
            /** @example en_US */
            language: string;
            /**
             * @description Seconds that a message may wait for its delivery; null: the platform's default.
             * @example null
             */
            message_send_ttl_seconds: number | null;
            /** @example order_update */
            name: string;
            /**
             * @description How variables are named: `{{1}}` or `{{first_name}}`.
             * @example POSITIONAL
             * @enum {string}
             */
            parameter_format: "POSITIONAL" | "NAMED";
            /**
             * @description The platform's own word.
             * @example APPROVED
             */
            platform_status: string;
            /**
             * @description GREEN, YELLOW, RED or UNKNOWN; null where the platform has not said it.
             * @example GREEN
             */
            quality: string | null;
            /**
             * @description The platform's word, such as `INVALID_FORMAT`; null where nothing was rejected.
             * @example null
             */
            rejected_reason: string | null;
            /**
             * @description Only `approved` templates can be sent. A state that has no word here is `disabled`; see `platform_status`.
             * @example approved
             * @enum {string}
             */
            status: "pending" | "approved" | "rejected" | "paused" | "disabled" | "in_appeal" | "pending_deletion";
            /**
             * Format: date-time
             * @description When the templates were last compared with the platform's list; null: not yet. Changes in between show at once.
             * @example 2026-11-21T08:05:30.000Z
             */
            synced_at: string | null;
            /**
             * Format: date-time
             * @example 2026-11-21T08:05:00.000Z
             */
            updated_at: string;
            /** @description What a message must fill, in the order of the parts. */
            variables: components["schemas"]["TemplateVariableResponse"][];
        };
        /** TemplateStatusUpdatedEvent */
        TemplateStatusUpdatedEvent: {
            /**
             * Format: date-time
             * @description When the reported change happened.
             */
            created_at: string;
            /** @description For `after` of GET /events. */
            cursor: string;
            data: {
                /** @enum {string} */
                category: "UTILITY" | "MARKETING" | "AUTHENTICATION";
                /** @description The numbers of its account, all of which may send it. */
                connection_ids: string[];
                language: string;
                name: string;
                /**
                 * Format: date-time
                 * @description By the platform, in whole seconds, or when Herald learnt of it.
                 */
                occurred_at: string;
                /** @description The platform's own word; null where it is deleted. */
                platform_status: string | null;
                /** @description Null where the template is new here. */
                previous_status: string | null;
                /** @description The platform's word, such as INVALID_FORMAT. */
                rejected_reason: string | null;
                /** @enum {string} */
                status: "pending" | "approved" | "rejected" | "paused" | "disabled" | "in_appeal" | "pending_deletion" | "deleted";
                /** Format: uuid */
                template_id: string;
                /**
                 * @description Only where POST /webhook/test or /webhook/verify made it: an example.
                 * @constant
                 */
                test?: true;
            };
            /**
             * Format: uuid
             * @description The same for all attempts.
             */
            id: string;
            /** Format: uuid */
            organization_id: string;
            /** @constant */
            type: "template.status.updated";
        };
        TemplateVariableResponse: {
            /**
             * @description Place of the button, from 0; null where it is in no button.
             * @example null
             */
            button_index: number | null;
            /**
             * @description Place of the carousel's card, from 0; null where it is in no card.
             * @example null
             */
            card_index: number | null;
            /**
             * @example body
             * @enum {string}
             */
            component: "header" | "body" | "button" | "carousel" | "limited_time_offer";
            /**
             * @description The example that was given for the review.
             * @example Ana
             */
            example: string | null;
            /**
             * @description `1`, `2` ..., or the name of a named variable.
             * @example 1
             */
            name: string;
        };
        TemplateVersionsData: {
            /** @example order_update */
            name: string;
            /** @description In the order of their languages. */
            versions: components["schemas"]["TemplateResponse"][];
        };
        TemplateVersionsResponse: {
            data: components["schemas"]["TemplateVersionsData"];
        };
        TestWebhookRequest: {
            /**
             * @description Kind of the event. Other kinds than `webhook.test` bear the example of this description and `test: true` in `data`. Default: webhook.test.
             * @example webhook.test
             * @enum {string}
             */
            type?: "message.received" | "message.status.updated" | "message.standby.received" | "message.sent_elsewhere" | "conversation.control.updated" | "conversation.updated" | "template.status.updated" | "template.category.updated" | "media.ready" | "media.failed" | "connection.updated" | "contact.opt_out.updated" | "workspace.limit.reached" | "payment.updated" | "call.missed" | "call.ended" | "platform.error" | "destination.events_lost" | "webhook.test";
        };
        TimelineEntryResponse: {
            /**
             * @description With `by: caller`: the id of its key, which stands in the key before the secret.
             * @example y4zZjPLnlOBt
             */
            api_key_id?: string;
            /**
             * Format: date-time
             * @description Of what WhatsApp reports in whole seconds.
             * @example 2026-11-21T08:00:01.204Z
             */
            at: string;
            /** @example 1 */
            attempt?: number;
            /**
             * @description Of a retry, a cancel, a release or an erasure: who decided it. `tag`: an action of its tag.
             * @example caller
             * @enum {string}
             */
            by?: "caller" | "tag" | "schedule" | "operator";
            /**
             * @description Deliveries of the webhook event of this move, as GET /webhook/deliveries lists them; absent where no event of it is kept.
             * @example [
             *       "01936f6e-9d2b-7a10-8f00-4b5c6d7e8f90"
             *     ]
             */
            delivery_ids?: string[];
            /**
             * @example attempt_rejected
             * @enum {string}
             */
            event: "queued" | "retried" | "released" | "attempt_started" | "attempt_accepted" | "attempt_rejected" | "attempt_deferred" | "attempt_unknown" | "accepted" | "sent" | "delivered" | "read" | "failed" | "outcome_unknown" | "expired" | "canceled" | "erased" | "restored" | "received" | "deleted" | "warned" | "edited" | "revoked";
            /**
             * Format: uuid
             * @description In its place: the id of the person who did it in the console.
             * @example 01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f
             */
            person_id?: string;
            /** @example 131026 */
            platform_code?: number;
            /**
             * @description `api`: a request of yours. `operator`: who runs Herald.
             * @example whatsapp
             * @enum {string}
             */
            source: "api" | "herald" | "whatsapp" | "operator";
            /**
             * @description The state that the message came to; absent where it stayed in its state.
             * @example failed
             * @enum {string}
             */
            status?: "queued" | "processing" | "accepted" | "sent" | "delivered" | "read" | "failed" | "outcome_unknown" | "received";
            /**
             * @description In words, for people: they may change.
             * @example Attempt 1 failed: The recipient cannot be reached: the number is not on WhatsApp, you are blocked, or the app is too old. Use another channel. (code 131026)
             */
            summary: string;
        };
        TimelineResponse: {
            /** @description Oldest first; at most the last 500. */
            data: components["schemas"]["TimelineEntryResponse"][];
            explanation: components["schemas"]["ExplanationResponse"];
            /**
             * @description What of its history is no longer kept, in sentences; empty where all is there.
             * @example []
             */
            not_kept: string[];
        };
        UpdateConversationRequest: {
            /**
             * @description Who looks after it: any text of yours, such as a name or an address. `null`: none. Another text alone ends `assignee_id`.
             * @example ana@example.com
             */
            assignee?: string | null;
            /**
             * Format: uuid
             * @description A person of the workspace: an id from GET /members. Without a text `assignee` becomes the name of the person. `null` removes the
             *     person, and the text with it.
             * @example 01936f75-3e4f-7d50-8162-7c8d9e0f1a2b
             */
            assignee_id?: string | null;
            /**
             * @description `true` takes it out of the work to be done; a message of the customer sets it to `false` again.
             * @example true
             */
            closed?: boolean;
        };
        UpdatedConversation: {
            /** @example ana@example.com */
            assignee: string | null;
            /**
             * Format: uuid
             * @example 01936f75-3e4f-7d50-8162-7c8d9e0f1a2b
             */
            assignee_id?: string | null;
            /** @example true */
            closed: boolean;
            /**
             * Format: uuid
             * @example 01936f6d-9a1b-7f00-8c11-5a6b7c8d9e0f
             */
            id: string;
        };
        UpdatedConversationResponse: {
            data: components["schemas"]["UpdatedConversation"];
        };
        UpdateProfileRequest: {
            /**
             * @description The line under the name; WhatsApp takes no empty one.
             * @example Fresh coffee, open until eight
             */
            about?: string;
            /** @example 12 Harbour Street, Dublin */
            address?: string;
            /** @example We roast our own beans. */
            description?: string;
            /** @example hello@example.com */
            email?: string;
            /**
             * @description The branch of business, as WhatsApp names it.
             * @example RESTAURANT
             */
            vertical?: string;
            /**
             * @description At most two addresses; an empty list takes them away.
             * @example [
             *       "https://example.com"
             *     ]
             */
            websites?: string[];
        };
        UploadMediaRequest: {
            /**
             * Format: uuid
             * @description The number that will send it.
             * @example 01936f6d-0a1b-7f00-8c11-5a6b7c8d9e0f
             */
            connection_id: string;
            /**
             * Format: binary
             * @description The bytes, as a part with a file name.
             */
            file: string;
            /**
             * @description What it is to be sent as. Without it: what its bytes say.
             * @enum {string}
             */
            type?: "image" | "video" | "audio" | "document" | "sticker";
            /**
             * @description It is a voice message. Default: false.
             * @example false
             * @enum {string}
             */
            voice?: "false" | "true";
        };
        UsageFiguresResponse: {
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
            /** @description Estimated; null: the operator has set no price for some of the messages. */
            cost: components["schemas"]["CostResponse"] | null;
            /** @description The same of those with a price; null: there are no prices. */
            cost_of_priced: components["schemas"]["CostResponse"] | null;
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
        };
        UsageResponse: {
            /**
             * Format: date-time
             * @description Up to when everything is counted; null: nothing is yet.
             * @example 2026-11-21T00:00:00.000Z
             */
            as_of: string | null;
            /** @description The oldest interval first; those without messages are left out. */
            data: components["schemas"]["UsageRowResponse"][];
            /** @description All rows together. */
            totals: components["schemas"]["UsageFiguresResponse"];
        };
        UsageRowResponse: {
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
             * @description With `group_by=category`; null: WhatsApp has reported none.
             * @example marketing
             */
            category?: string | null;
            /**
             * Format: uuid
             * @description As `connection_id`.
             * @example 01936f6d-0a1b-7f00-8c11-5a6b7c8d9e0f
             */
            connection?: string | null;
            /**
             * Format: uuid
             * @description With `group_by=connection_id`.
             * @example 01936f6d-0a1b-7f00-8c11-5a6b7c8d9e0f
             */
            connection_id?: string | null;
            /** @description Estimated; null: the operator has set no price for some of the messages. */
            cost: components["schemas"]["CostResponse"] | null;
            /** @description The same of those with a price; null: there are no prices. */
            cost_of_priced: components["schemas"]["CostResponse"] | null;
            /**
             * @description With `group_by=country`; null: unknown.
             * @example DE
             */
            country?: string | null;
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
             * @description With `group_by=source`: `api`, `app` or `customer`.
             * @example api
             */
            source?: string | null;
            /**
             * Format: date-time
             * @description Where the interval begins, with the offset of the time zone.
             * @example 2026-11-21T00:00:00.000+01:00
             */
            start: string;
            /**
             * @description What POST /messages took.
             * @example 1200
             */
            submitted: number;
            /**
             * @description With `group_by=template`; null: no template, or its message's content is gone.
             * @example order_shipped
             */
            template?: string | null;
            /**
             * @description With `group_by=type`.
             * @example template
             */
            type?: string | null;
            /**
             * @description Billable messages without a price, by category.
             * @example {}
             */
            unpriced: {
                [key: string]: number;
            };
        };
        VerifyOtpRequest: {
            /**
             * @description What the user typed: six digits.
             * @example 042317
             */
            code: string;
            /**
             * Format: uuid
             * @description `id` from the answer of POST /otp/send.
             * @example 019b76f0-9c1d-7a55-8f3e-0d4c2b1a6f7e
             */
            id: string;
        };
        WaitingResponse: {
            /**
             * @description Messages of the number that leave before it; 10000 stands for that many or more.
             * @example 290
             */
            ahead: number;
            /**
             * @description `scheduled`: until the time that you gave it, or its tag. `tag_paused`: until its tag is resumed. `tag_pace`: its turn comes at the pace of its tag.
             *     `earlier_message_to_recipient`: messages to one recipient leave in
             *     order. `number_pace`: its turn comes at the pace of its number. `pair_limit` and `retry`: WhatsApp or the network
             *     refused it for now. `number_paused`: so for the whole number, or every number rests after a restore.
             *     `number_disconnected`: the number cannot send. `due`: as soon as a worker takes it.
             * @example number_pace
             * @enum {string}
             */
            reason: "scheduled" | "tag_paused" | "tag_pace" | "earlier_message_to_recipient" | "number_pace" | "pair_limit" | "number_paused" | "retry" | "number_disconnected" | "due";
            /**
             * Format: date-time
             * @description When this reason ends, where that is known.
             * @example 2026-11-21T08:00:03.750Z
             */
            until: string | null;
        };
        /**
         * WarningCode
         * @description Stable. Later versions may have more.
         * @example NUMBER_RESTRICTED
         * @example NUMBER_QUALITY_LOW
         * @example RECIPIENT_IS_SENDER
         * @example RECIPIENT_DOUBTFUL
         * @example RECIPIENT_FAILED_BEFORE
         * @example TEMPLATE_QUALITY_LOW
         * @example TEMPLATE_VALUES_UNUSED
         * @example MARKETING_TO_UNITED_STATES
         * @example NOT_CONVERSATION_OWNER
         * @example WINDOW_CLOSES_BEFORE_SEND
         * @example EXPIRES_BEFORE_SEND
         * @example MEDIA_LINK_NOT_CHECKED
         * @example MEDIA_FIELD_NOT_SENT
         * @example ACTION_REFUSED
         */
        WarningCode: string;
        WebhookResponse: {
            data: components["schemas"]["WebhookSettings"];
        };
        WebhookSettings: {
            /**
             * @description Whether deliveries are made: false while the webhook is paused (PUT with `active: false`) or disabled.
             * @example true
             */
            active: boolean;
            /**
             * @description Numbers whose events it gets; empty: all.
             * @example [
             *       "01936f6d-0a1b-7f00-8c11-5a6b7c8d9e0f"
             *     ]
             */
            connection_ids: string[];
            /**
             * Format: date-time
             * @example 2026-11-21T07:30:00.000Z
             */
            created_at: string;
            /**
             * @description Why deliveries stopped by themselves: `gone` after a 410, `failing` after five days without one success.
             * @example null
             * @enum {string|null}
             */
            disabled_reason: "gone" | "failing" | null;
            /**
             * @example [
             *       "message.received",
             *       "message.status.updated",
             *       "message.standby.received",
             *       "message.sent_elsewhere",
             *       "conversation.control.updated",
             *       "conversation.updated",
             *       "template.status.updated",
             *       "template.category.updated",
             *       "media.ready",
             *       "media.failed",
             *       "connection.updated",
             *       "contact.opt_out.updated",
             *       "workspace.limit.reached",
             *       "payment.updated",
             *       "call.missed",
             *       "call.ended",
             *       "platform.error",
             *       "destination.events_lost"
             *     ]
             */
            events: ("message.received" | "message.status.updated" | "message.standby.received" | "message.sent_elsewhere" | "conversation.control.updated" | "conversation.updated" | "template.status.updated" | "template.category.updated" | "media.ready" | "media.failed" | "connection.updated" | "contact.opt_out.updated" | "workspace.limit.reached" | "payment.updated" | "call.missed" | "call.ended" | "platform.error" | "destination.events_lost")[];
            /**
             * Format: date-time
             * @description Since when every attempt has failed; null while they succeed.
             * @example null
             */
            failing_since: string | null;
            /**
             * @description Names of its own headers. Their values are never shown.
             * @example [
             *       "X-Environment"
             *     ]
             */
            header_names: string[];
            /**
             * Format: date-time
             * @description Until then deliveries are signed with the replaced secret as well; null where there is none.
             * @example null
             */
            previous_secret_expires_at: string | null;
            /** @description The last 50 attempts, newest first. */
            recent_deliveries: components["schemas"]["DeliveryResponse"][];
            /**
             * @description The secret's last characters, to distinguish secrets.
             * @example whsec_...r9A=
             */
            secret_hint: string;
            /**
             * Format: date-time
             * @example 2026-11-21T07:30:00.000Z
             */
            updated_at: string;
            /**
             * Format: uri
             * @example https://shop.example.com/whatsapp/events
             */
            url: string;
        };
        WebhookSettingsWithSecret: {
            /**
             * @description Whether deliveries are made: false while the webhook is paused (PUT with `active: false`) or disabled.
             * @example true
             */
            active: boolean;
            /**
             * @description Numbers whose events it gets; empty: all.
             * @example [
             *       "01936f6d-0a1b-7f00-8c11-5a6b7c8d9e0f"
             *     ]
             */
            connection_ids: string[];
            /**
             * Format: date-time
             * @example 2026-11-21T07:30:00.000Z
             */
            created_at: string;
            /**
             * @description Why deliveries stopped by themselves: `gone` after a 410, `failing` after five days without one success.
             * @example null
             * @enum {string|null}
             */
            disabled_reason: "gone" | "failing" | null;
            /**
             * @example [
             *       "message.received",
             *       "message.status.updated",
             *       "message.standby.received",
             *       "message.sent_elsewhere",
             *       "conversation.control.updated",
             *       "conversation.updated",
             *       "template.status.updated",
             *       "template.category.updated",
             *       "media.ready",
             *       "media.failed",
             *       "connection.updated",
             *       "contact.opt_out.updated",
             *       "workspace.limit.reached",
             *       "payment.updated",
             *       "call.missed",
             *       "call.ended",
             *       "platform.error",
             *       "destination.events_lost"
             *     ]
             */
            events: ("message.received" | "message.status.updated" | "message.standby.received" | "message.sent_elsewhere" | "conversation.control.updated" | "conversation.updated" | "template.status.updated" | "template.category.updated" | "media.ready" | "media.failed" | "connection.updated" | "contact.opt_out.updated" | "workspace.limit.reached" | "payment.updated" | "call.missed" | "call.ended" | "platform.error" | "destination.events_lost")[];
            /**
             * Format: date-time
             * @description Since when every attempt has failed; null while they succeed.
             * @example null
             */
            failing_since: string | null;
            /**
             * @description Names of its own headers. Their values are never shown.
             * @example [
             *       "X-Environment"
             *     ]
             */
            header_names: string[];
            /**
             * Format: date-time
             * @description Until then deliveries are signed with the replaced secret as well; null where there is none.
             * @example null
             */
            previous_secret_expires_at: string | null;
            /** @description The last 50 attempts, newest first. */
            recent_deliveries: components["schemas"]["DeliveryResponse"][];
            /**
             * @description Signs every delivery (Standard Webhooks). Only in the answer that made it: keep it.
             * @example whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=
             */
            secret?: string;
            /**
             * @description The secret's last characters, to distinguish secrets.
             * @example whsec_...r9A=
             */
            secret_hint: string;
            /**
             * Format: date-time
             * @example 2026-11-21T07:30:00.000Z
             */
            updated_at: string;
            /**
             * Format: uri
             * @example https://shop.example.com/whatsapp/events
             */
            url: string;
        };
        /** WebhookTestEvent */
        WebhookTestEvent: {
            /**
             * Format: date-time
             * @description When the reported change happened.
             */
            created_at: string;
            /** @description For `after` of GET /events. */
            cursor: string;
            data: {
                note: string;
            };
            /**
             * Format: uuid
             * @description The same for all attempts.
             */
            id: string;
            /** Format: uuid */
            organization_id: string;
            /** @constant */
            type: "webhook.test";
        };
        WebhookWithSecretResponse: {
            data: components["schemas"]["WebhookSettingsWithSecret"];
        };
        /** WorkspaceLimitReachedEvent */
        WorkspaceLimitReachedEvent: {
            /**
             * Format: date-time
             * @description When the reported change happened.
             */
            created_at: string;
            /** @description For `after` of GET /events. */
            cursor: string;
            data: {
                /** @description Of `spend_per_month`, which is estimated. */
                currency?: string;
                /**
                 * @description Which limit, by its name at the command line.
                 * @enum {string}
                 */
                kind: "messages_per_day" | "spend_per_month";
                /** @description Messages, or of `spend_per_month` an amount as a decimal. */
                limit: number | string;
                /** Format: date-time */
                occurred_at: string;
                /**
                 * @description The share of the limit that was reached; 100: there is no room for another message like the last one.
                 * @enum {integer}
                 */
                percent: 80 | 100;
                remaining: number | string;
                /**
                 * Format: date-time
                 * @description When the next period begins, in the workspace's time zone.
                 */
                renews_at: string;
                /**
                 * @description Only where POST /webhook/test or /webhook/verify made it: an example.
                 * @constant
                 */
                test?: true;
                /** @description Accepted in the period, less what failed unsent. */
                used: number | string;
            };
            /**
             * Format: uuid
             * @description The same for all attempts.
             */
            id: string;
            /** Format: uuid */
            organization_id: string;
            /** @constant */
            type: "workspace.limit.reached";
        };
        WorkspaceMemberResponse: {
            /**
             * Format: uuid
             * @description For `assignee_id` of a conversation.
             * @example 01936f75-3e4f-7d50-8162-7c8d9e0f1a2b
             */
            id: string;
            /**
             * @description As of the last sign-in.
             * @example Robin Wells
             */
            name: string;
        };
        WorkspaceOfKey: {
            /**
             * Format: uuid
             * @example 01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f
             */
            id: string;
            /** @example Example Ltd */
            name: string;
        };
    };
    responses: {
        /** @description Anything else, redirects too: the event comes again by the schedule. */
        EventRefused: {
            headers: {
                [name: string]: unknown;
            };
            content?: never;
        };
        /** @description Send no more: the webhook is disabled at once. */
        EventsUnwanted: {
            headers: {
                [name: string]: unknown;
            };
            content?: never;
        };
        /** @description Taken. Answer within ten seconds; do the work afterwards. */
        EventTaken: {
            headers: {
                [name: string]: unknown;
            };
            content?: never;
        };
        /**
         * @description - [`DESTINATION_ADDRESS_NOT_ALLOWED`](/docs/errors#DESTINATION_ADDRESS_NOT_ALLOWED): The address of a destination is one that Herald does not connect to; `reason` says why: `ip_literal`, `malformed`, `private_address`, `unresolvable` or `too_many_addresses`.
         *     - [`INVALID_REQUEST`](/docs/errors#INVALID_REQUEST): The JSON is malformed, or a path parameter, query parameter or body field breaks its rule.
         */
        Refused400_DESTINATION_ADDRESS_NOT_ALLOWED_INVALID_REQUEST: {
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
         * @description - [`INVALID_REQUEST`](/docs/errors#INVALID_REQUEST): The JSON is malformed, or a path parameter, query parameter or body field breaks its rule.
         *     - [`PLATFORM_REJECTED`](/docs/errors#PLATFORM_REJECTED): The WhatsApp platform refused a template or profile change.
         */
        Refused400_INVALID_REQUEST_PLATFORM_REJECTED: {
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
         * @description - [`INVALID_REQUEST`](/docs/errors#INVALID_REQUEST): The JSON is malformed, or a path parameter, query parameter or body field breaks its rule.
         *     - [`MEDIA_STORAGE_FULL`](/docs/errors#MEDIA_STORAGE_FULL): The file would bring the workspace's stored files beyond its limit. Files that customers sent count too.
         *     - [`MEDIA_TOO_LARGE`](/docs/errors#MEDIA_TOO_LARGE): The file is over the platform's limit for its type, or over 32 MiB.
         *     - [`MEDIA_TYPE_NOT_SUPPORTED`](/docs/errors#MEDIA_TYPE_NOT_SUPPORTED): The bytes of the file are of a type that the platform does not take, or of another than `type` or the Content-Type of the part says.
         */
        Refused400_media_upload: {
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
         * @description - [`IDEMPOTENCY_KEY_INVALID`](/docs/errors#IDEMPOTENCY_KEY_INVALID): The header Idempotency-Key is not of the form that the endpoint takes.
         *     - [`INVALID_REQUEST`](/docs/errors#INVALID_REQUEST): The JSON is malformed, or a path parameter, query parameter or body field breaks its rule.
         *     - [`PLATFORM_REJECTED`](/docs/errors#PLATFORM_REJECTED): The WhatsApp platform refused a template or profile change.
         */
        Refused400_messages_retry: {
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
         * @description - [`IDEMPOTENCY_KEY_INVALID`](/docs/errors#IDEMPOTENCY_KEY_INVALID): The header Idempotency-Key is not of the form that the endpoint takes.
         *     - [`IDEMPOTENCY_KEY_REQUIRED`](/docs/errors#IDEMPOTENCY_KEY_REQUIRED): The header Idempotency-Key is missing.
         *     - [`INVALID_REQUEST`](/docs/errors#INVALID_REQUEST): The JSON is malformed, or a path parameter, query parameter or body field breaks its rule.
         *     - [`PLATFORM_REJECTED`](/docs/errors#PLATFORM_REJECTED): The WhatsApp platform refused a template or profile change.
         */
        Refused400_messages_send: {
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
         * @description - [`IDEMPOTENCY_KEY_INVALID`](/docs/errors#IDEMPOTENCY_KEY_INVALID): The header Idempotency-Key is not of the form that the endpoint takes.
         *     - [`IDEMPOTENCY_KEY_REQUIRED`](/docs/errors#IDEMPOTENCY_KEY_REQUIRED): The header Idempotency-Key is missing.
         *     - [`INVALID_REQUEST`](/docs/errors#INVALID_REQUEST): The JSON is malformed, or a path parameter, query parameter or body field breaks its rule.
         *     - [`OTP_RECIPIENT_INVALID`](/docs/errors#OTP_RECIPIENT_INVALID): The number is impossible, of a kind that has no WhatsApp, or of a country that the project does not allow.
         */
        Refused400_otp_send: {
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
         * @description - [`INVALID_REQUEST`](/docs/errors#INVALID_REQUEST): The JSON is malformed, or a path parameter, query parameter or body field breaks its rule.
         *     - [`OTP_ATTEMPTS_EXHAUSTED`](/docs/errors#OTP_ATTEMPTS_EXHAUSTED): The `rule` in `details` says why: `too_many_attempts`, 5 codes were tried for this id; `too_many_wrong_codes`, 20 wrong ones for its number within 24 hours.
         *     - [`OTP_CODE_ALREADY_USED`](/docs/errors#OTP_CODE_ALREADY_USED): The code was verified before.
         *     - [`OTP_CODE_EXPIRED`](/docs/errors#OTP_CODE_EXPIRED): The time of the code is over, a newer code was sent to the number, or it could not be sent.
         *     - [`OTP_CODE_INCORRECT`](/docs/errors#OTP_CODE_INCORRECT): The code is wrong, or the id names no challenge of this project.
         */
        Refused400_otp_verify: {
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
         * @description - [`INVALID_REQUEST`](/docs/errors#INVALID_REQUEST): The JSON is malformed, or a path parameter, query parameter or body field breaks its rule.
         *     - [`WEBHOOK_SECRET_DIFFERS`](/docs/errors#WEBHOOK_SECRET_DIFFERS): `secret` of PUT /webhook is not the present one of the webhook, which keeps its secret.
         *     - [`WEBHOOK_URL_NOT_ALLOWED`](/docs/errors#WEBHOOK_URL_NOT_ALLOWED): The address of the webhook is one that Herald does not deliver to; `reason` says why: `not_https`, `port`, `ip_literal`, `private_address`, `unresolvable` or `credentials_in_url`.
         */
        Refused400_webhook_put: {
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
         * @description - [`OTP_PACKAGE_EXHAUSTED`](/docs/errors#OTP_PACKAGE_EXHAUSTED): As many codes as the project's package for that country allows were accepted in this calendar month (UTC).
         *     - [`OTP_PACKAGE_REQUIRED`](/docs/errors#OTP_PACKAGE_REQUIRED): A live code was asked for a number of a country for which the project has no package.
         */
        Refused402_OTP_PACKAGE_EXHAUSTED_OTP_PACKAGE_REQUIRED: {
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
         * @description - [`SPEND_LIMIT_REACHED`](/docs/errors#SPEND_LIMIT_REACHED): The workspace's limit of a month, of its time zone, has no room for the estimated price of the message. Free messages still pass. What fails unsent is given back, and what WhatsApp reports as free.
         *     - [`SUBSCRIPTION_REQUIRED`](/docs/errors#SUBSCRIPTION_REQUIRED): The workspace has no paid access to the API at this moment. Reading still works.
         */
        Refused402_SPEND_LIMIT_REACHED_SUBSCRIPTION_REQUIRED: {
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
        /** @description - [`SUBSCRIPTION_REQUIRED`](/docs/errors#SUBSCRIPTION_REQUIRED): The workspace has no paid access to the API at this moment. Reading still works. */
        Refused402_SUBSCRIPTION_REQUIRED: {
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
         * @description - [`OTP_PROJECT_REQUIRED`](/docs/errors#OTP_PROJECT_REQUIRED): The key has a scope of OTP, but belongs to no OTP project.
         *     - [`SCOPE_REQUIRED`](/docs/errors#SCOPE_REQUIRED): The key is valid, but lacks the scope of this route; or the role of the person does.
         */
        Refused403_OTP_PROJECT_REQUIRED_SCOPE_REQUIRED: {
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
        /** @description - [`API_VERSION_NOT_SUPPORTED`](/docs/errors#API_VERSION_NOT_SUPPORTED): The version segment of the path is not one that Herald serves. */
        Refused404_API_VERSION_NOT_SUPPORTED: {
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
        /** @description - [`CONNECTION_NOT_FOUND`](/docs/errors#CONNECTION_NOT_FOUND): The connection id names no number of this key's workspace. */
        Refused404_CONNECTION_NOT_FOUND: {
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
         *     - [`MEDIA_NOT_FOUND`](/docs/errors#MEDIA_NOT_FOUND): The id names no file of this key's workspace, or an inbound one that Herald could not fetch; or the storage has lost the bytes.
         */
        Refused404_CONNECTION_NOT_FOUND_MEDIA_NOT_FOUND: {
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
         *     - [`TEMPLATE_NOT_FOUND`](/docs/errors#TEMPLATE_NOT_FOUND): No template of that name, or not in that language, belongs to the account of the connection; in the latter case `available_languages` names those in which it exists.
         */
        Refused404_CONNECTION_NOT_FOUND_TEMPLATE_NOT_FOUND: {
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
        /** @description - [`CONVERSATION_NOT_FOUND`](/docs/errors#CONVERSATION_NOT_FOUND): The id names no conversation of this key's workspace, or its contact was erased. */
        Refused404_CONVERSATION_NOT_FOUND: {
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
        /** @description - [`DESTINATION_CONNECTION_NOT_FOUND`](/docs/errors#DESTINATION_CONNECTION_NOT_FOUND): `connection_ids` of a destination has ids that are no number of the workspace; `details` names each. */
        Refused404_DESTINATION_CONNECTION_NOT_FOUND: {
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
         * @description - [`DESTINATION_CONNECTION_NOT_FOUND`](/docs/errors#DESTINATION_CONNECTION_NOT_FOUND): `connection_ids` of a destination has ids that are no number of the workspace; `details` names each.
         *     - [`DESTINATION_NOT_FOUND`](/docs/errors#DESTINATION_NOT_FOUND): The id names no destination of this key's workspace, or it was deleted.
         */
        Refused404_DESTINATION_CONNECTION_NOT_FOUND_DESTINATION_NOT_FOUND: {
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
        /** @description - [`DESTINATION_NOT_FOUND`](/docs/errors#DESTINATION_NOT_FOUND): The id names no destination of this key's workspace, or it was deleted. */
        Refused404_DESTINATION_NOT_FOUND: {
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
        /** @description - [`MEDIA_NOT_FOUND`](/docs/errors#MEDIA_NOT_FOUND): The id names no file of this key's workspace, or an inbound one that Herald could not fetch; or the storage has lost the bytes. */
        Refused404_MEDIA_NOT_FOUND: {
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
        /** @description - [`MESSAGE_NOT_FOUND`](/docs/errors#MESSAGE_NOT_FOUND): The id names no message of this key's workspace. */
        Refused404_MESSAGE_NOT_FOUND: {
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
        /** @description - [`OPT_OUT_NOT_FOUND`](/docs/errors#OPT_OUT_NOT_FOUND): The id names no opt-out of this key's workspace, it was removed, or its contact was erased. */
        Refused404_OPT_OUT_NOT_FOUND: {
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
        /** @description - [`OTP_NOT_FOUND`](/docs/errors#OTP_NOT_FOUND): The id names no challenge of this key's project. */
        Refused404_OTP_NOT_FOUND: {
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
        /** @description - [`TAG_NOT_FOUND`](/docs/errors#TAG_NOT_FOUND): No message of this key's workspace was accepted with the tag, and no PUT /tags/{tag} made it. */
        Refused404_TAG_NOT_FOUND: {
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
         *     - [`MEDIA_NOT_FOUND`](/docs/errors#MEDIA_NOT_FOUND): The id names no file of this key's workspace, or an inbound one that Herald could not fetch; or the storage has lost the bytes.
         *     - [`TEMPLATE_NOT_FOUND`](/docs/errors#TEMPLATE_NOT_FOUND): No template of that name, or not in that language, belongs to the account of the connection; in the latter case `available_languages` names those in which it exists.
         */
        Refused404_templates_edit: {
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
        /** @description - [`WEBHOOK_CONNECTION_NOT_FOUND`](/docs/errors#WEBHOOK_CONNECTION_NOT_FOUND): `connection_ids` of PUT /webhook has ids that are no number of the workspace; `details` names each. */
        Refused404_WEBHOOK_CONNECTION_NOT_FOUND: {
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
        /** @description - [`WEBHOOK_DELIVERY_NOT_FOUND`](/docs/errors#WEBHOOK_DELIVERY_NOT_FOUND): The id names no delivery attempt of this workspace's webhook, or its event was removed after its time. */
        Refused404_WEBHOOK_DELIVERY_NOT_FOUND: {
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
        /** @description - [`WEBHOOK_NOT_FOUND`](/docs/errors#WEBHOOK_NOT_FOUND): The workspace has no webhook, or deleted it. */
        Refused404_WEBHOOK_NOT_FOUND: {
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
        /** @description - [`WEBHOOK_REPLAY_NOT_FOUND`](/docs/errors#WEBHOOK_REPLAY_NOT_FOUND): The id names no replay of this workspace's webhook, or it ended long ago. */
        Refused404_WEBHOOK_REPLAY_NOT_FOUND: {
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
        /** @description - [`CONNECTION_NOT_READY`](/docs/errors#CONNECTION_NOT_READY): The number is not connected to the platform. */
        Refused409_CONNECTION_NOT_READY: {
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
         *     - [`CONTROL_NOT_ALLOWED`](/docs/errors#CONTROL_NOT_ALLOWED): This app does not own the conversation that it passes or releases, or takes one without being the escalation partner; `platform` has the words of WhatsApp.
         */
        Refused409_CONNECTION_NOT_READY_CONTROL_NOT_ALLOWED: {
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
         */
        Refused409_CONNECTION_NOT_READY_IDEMPOTENCY_KEY_REUSED: {
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
         *     - [`MESSAGE_NOT_RECEIVED`](/docs/errors#MESSAGE_NOT_RECEIVED): A message that you sent, or whose contact was erased, was to be marked as read.
         */
        Refused409_CONNECTION_NOT_READY_MESSAGE_NOT_RECEIVED: {
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
         *     - [`META_APP_ID_MISSING`](/docs/errors#META_APP_ID_MISSING): A template names its sample file by `media_object_id`, and the setting META_APP_ID is not there.
         */
        Refused409_CONNECTION_NOT_READY_META_APP_ID_MISSING: {
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
         * @description - [`DESTINATION_LIMIT_REACHED`](/docs/errors#DESTINATION_LIMIT_REACHED): POST /destinations while the workspace has as many destinations as it may have.
         *     - [`DESTINATION_NAME_TAKEN`](/docs/errors#DESTINATION_NAME_TAKEN): POST or PATCH /destinations gives a name that another destination of the workspace has.
         */
        Refused409_DESTINATION_LIMIT_REACHED_DESTINATION_NAME_TAKEN: {
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
        /** @description - [`DESTINATION_NAME_TAKEN`](/docs/errors#DESTINATION_NAME_TAKEN): POST or PATCH /destinations gives a name that another destination of the workspace has. */
        Refused409_DESTINATION_NAME_TAKEN: {
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
         *     - [`OTP_SENDER_NOT_READY`](/docs/errors#OTP_SENDER_NOT_READY): The service's own number is not set, or the platform refuses its token.
         */
        Refused409_IDEMPOTENCY_KEY_REUSED_OTP_SENDER_NOT_READY: {
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
        /** @description - [`MEDIA_PENDING`](/docs/errors#MEDIA_PENDING): The file came with a message and is not fetched yet, mostly for seconds after the message. */
        Refused409_MEDIA_PENDING: {
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
        /** @description - [`MESSAGE_NOT_CANCELABLE`](/docs/errors#MESSAGE_NOT_CANCELABLE): A message was to be canceled that was taken for sending already, has an outcome, or was received. */
        Refused409_MESSAGE_NOT_CANCELABLE: {
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
         *     - [`CONNECTION_NOT_READY`](/docs/errors#CONNECTION_NOT_READY): The number is not connected to the platform.
         *     - [`IDEMPOTENCY_KEY_REUSED`](/docs/errors#IDEMPOTENCY_KEY_REUSED): The key was used before with other parameters.
         *     - [`MEDIA_NOT_FOUND`](/docs/errors#MEDIA_NOT_FOUND): The id names no file of this key's workspace, or an inbound one that Herald could not fetch; or the storage has lost the bytes.
         *     - [`MEDIA_TYPE_MISMATCH`](/docs/errors#MEDIA_TYPE_MISMATCH): A message of one type names a media file of another.
         *     - [`MESSAGE_NOT_RETRYABLE`](/docs/errors#MESSAGE_NOT_RETRYABLE): A retry was asked for a message that has not failed, that was sent in the WhatsApp Business app, or whose content was cleared when its time was over.
         *     - [`OUTCOME_UNKNOWN_NOT_CONFIRMED`](/docs/errors#OUTCOME_UNKNOWN_NOT_CONFIRMED): A retry was asked for a message whose outcome is unknown, without the confirmation; or for one that failed, of which WhatsApp has accepted an earlier attempt.
         *     - [`RECIPIENT_LIMIT_REACHED`](/docs/errors#RECIPIENT_LIMIT_REACHED): As many marketing templates as the workspace's limit of a week allows for one recipient were accepted in this week, from Monday on, of its time zone.
         *     - [`RECIPIENT_NEEDS_PHONE`](/docs/errors#RECIPIENT_NEEDS_PHONE): An authentication template is addressed to a user id.
         *     - [`RECIPIENT_OPTED_OUT`](/docs/errors#RECIPIENT_OPTED_OUT): A marketing template goes to a person who opted out, or any message to one who wants none.
         *     - [`SERVICE_WINDOW_CLOSED`](/docs/errors#SERVICE_WINDOW_CLOSED): The contact has not written to this number in the last 24 hours, and the message is no template.
         *     - [`TEMPLATE_NOT_APPROVED`](/docs/errors#TEMPLATE_NOT_APPROVED): The template waits for its review, or was rejected, paused or disabled.
         *     - [`TEMPLATE_NOT_FOUND`](/docs/errors#TEMPLATE_NOT_FOUND): No template of that name, or not in that language, belongs to the account of the connection; in the latter case `available_languages` names those in which it exists.
         *     - [`TEMPLATE_PARAMETERS_MISMATCH`](/docs/errors#TEMPLATE_PARAMETERS_MISMATCH): The components of the message do not fill the template's variables.
         */
        Refused409_messages_retry: {
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
        /** @description - [`OPT_OUT_NOT_YOURS`](/docs/errors#OPT_OUT_NOT_YOURS): An opt-out with `source: platform` was to be removed. */
        Refused409_OPT_OUT_NOT_YOURS: {
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
         * @description - [`TAG_LIMIT_REACHED`](/docs/errors#TAG_LIMIT_REACHED): PUT /tags/{tag} would pause, stage or pace one more tag than a workspace may have so.
         *     - [`TAG_STARTED`](/docs/errors#TAG_STARTED): PUT /tags/{tag} has another `start_at` than the tag, which was started or has got its first message without one.
         */
        Refused409_TAG_LIMIT_REACHED_TAG_STARTED: {
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
        /** @description - [`WEBHOOK_REPLAY_RUNNING`](/docs/errors#WEBHOOK_REPLAY_RUNNING): POST /webhook/replay while another replay of the workspace is running or paused. */
        Refused409_WEBHOOK_REPLAY_RUNNING: {
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
        /** @description - [`ASSIGNEE_NOT_MEMBER`](/docs/errors#ASSIGNEE_NOT_MEMBER): A conversation was to be assigned to a person who is no member of the workspace, or to an unknown id. */
        Refused422_ASSIGNEE_NOT_MEMBER: {
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
         * @description - [`BATCH_REFUSED`](/docs/errors#BATCH_REFUSED): A message of a strict batch cannot be sent. Nothing was stored.
         *     - [`VALIDATION_FAILED`](/docs/errors#VALIDATION_FAILED): The body of POST /messages fits no message variant, or more than one.
         */
        Refused422_BATCH_REFUSED_VALIDATION_FAILED: {
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
        /** @description - [`MEDIA_TYPE_MISMATCH`](/docs/errors#MEDIA_TYPE_MISMATCH): A message of one type names a media file of another. */
        Refused422_MEDIA_TYPE_MISMATCH: {
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
         *     - [`MEDIA_NOT_FOUND`](/docs/errors#MEDIA_NOT_FOUND): The id names no file of this key's workspace, or an inbound one that Herald could not fetch; or the storage has lost the bytes.
         *     - [`MEDIA_TYPE_MISMATCH`](/docs/errors#MEDIA_TYPE_MISMATCH): A message of one type names a media file of another.
         *     - [`RECIPIENT_LIMIT_REACHED`](/docs/errors#RECIPIENT_LIMIT_REACHED): As many marketing templates as the workspace's limit of a week allows for one recipient were accepted in this week, from Monday on, of its time zone.
         *     - [`RECIPIENT_NEEDS_PHONE`](/docs/errors#RECIPIENT_NEEDS_PHONE): An authentication template is addressed to a user id.
         *     - [`RECIPIENT_OPTED_OUT`](/docs/errors#RECIPIENT_OPTED_OUT): A marketing template goes to a person who opted out, or any message to one who wants none.
         *     - [`REPLY_TARGET_NOT_FOUND`](/docs/errors#REPLY_TARGET_NOT_FOUND): The message to answer is unknown, failed, or belongs to another conversation.
         *     - [`SEND_AT_PASSED`](/docs/errors#SEND_AT_PASSED): The `send_at` of a message lies in the past, or less than 10 seconds ahead, by the time of Herald.
         *     - [`SERVICE_WINDOW_CLOSED`](/docs/errors#SERVICE_WINDOW_CLOSED): The contact has not written to this number in the last 24 hours, and the message is no template.
         *     - [`TEMPLATE_NOT_APPROVED`](/docs/errors#TEMPLATE_NOT_APPROVED): The template waits for its review, or was rejected, paused or disabled.
         *     - [`TEMPLATE_NOT_FOUND`](/docs/errors#TEMPLATE_NOT_FOUND): No template of that name, or not in that language, belongs to the account of the connection; in the latter case `available_languages` names those in which it exists.
         *     - [`TEMPLATE_PARAMETERS_MISMATCH`](/docs/errors#TEMPLATE_PARAMETERS_MISMATCH): The components of the message do not fill the template's variables.
         *     - [`VALIDATION_FAILED`](/docs/errors#VALIDATION_FAILED): The body of POST /messages fits no message variant, or more than one.
         */
        Refused422_messages_send: {
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
        /** @description - [`TEMPLATE_PARAMETERS_MISMATCH`](/docs/errors#TEMPLATE_PARAMETERS_MISMATCH): The components of the message do not fill the template's variables. */
        Refused422_TEMPLATE_PARAMETERS_MISMATCH: {
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
        /** @description - [`USAGE_TOO_LARGE`](/docs/errors#USAGE_TOO_LARGE): GET /usage or GET /usage/codes would answer more than 10,000 rows. */
        Refused422_USAGE_TOO_LARGE: {
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
        /** @description - [`VALIDATION_FAILED`](/docs/errors#VALIDATION_FAILED): The body of POST /messages fits no message variant, or more than one. */
        Refused422_VALIDATION_FAILED: {
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
        /** @description - [`WEBHOOK_REPLAY_TOO_LARGE`](/docs/errors#WEBHOOK_REPLAY_TOO_LARGE): POST /webhook/replay found more events than one replay may have, `limit`, or a million attempts to deliver them. */
        Refused422_WEBHOOK_REPLAY_TOO_LARGE: {
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
         * @description - [`BACKLOG_LIMIT_REACHED`](/docs/errors#BACKLOG_LIMIT_REACHED): The workspace has as many messages queued, or as many scheduled, as it may have.
         *     - [`RATE_LIMITED`](/docs/errors#RATE_LIMITED): The key, or an address that sent no valid key, made more requests than its limit allows. With `scope`: `workspace_reads`: too many reads of the workspace are under way and wait; `waiting_readers`: too many calls of `GET /events` wait; `large_batches`: batches of the workspace above 256 KiB are under way; `webhook_replay`: a replay was refused as too large within the last ten seconds; `webhook_changes`: the webhook was changed, or its secret replaced, too often within an hour; `webhook_verify`: the receiver was checked too often; `destination_changes`: event destinations were made, changed or replayed too often within an hour; `number_profile`: too many reads and changes of the profile of one number.
         *     - [`WORKSPACE_LIMIT_REACHED`](/docs/errors#WORKSPACE_LIMIT_REACHED): As many messages as the workspace's limit of a day allows were accepted on this day of its time zone. Messages that failed unsent are given back.
         */
        Refused429_messages_send: {
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
        /**
         * @description - [`OTP_RESEND_TOO_SOON`](/docs/errors#OTP_RESEND_TOO_SOON): The `rule` in `details` says why: `resend_interval`, less than 60 seconds since the last code to this number; `too_many_codes`, five codes and then one in two minutes; `too_many_wrong_codes`, twenty wrong ones within 24 hours.
         *     - [`RATE_LIMITED`](/docs/errors#RATE_LIMITED): The key, or an address that sent no valid key, made more requests than its limit allows. With `scope`: `workspace_reads`: too many reads of the workspace are under way and wait; `waiting_readers`: too many calls of `GET /events` wait; `large_batches`: batches of the workspace above 256 KiB are under way; `webhook_replay`: a replay was refused as too large within the last ten seconds; `webhook_changes`: the webhook was changed, or its secret replaced, too often within an hour; `webhook_verify`: the receiver was checked too often; `destination_changes`: event destinations were made, changed or replayed too often within an hour; `number_profile`: too many reads and changes of the profile of one number.
         */
        Refused429_OTP_RESEND_TOO_SOON_RATE_LIMITED: {
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
        /**
         * @description - [`RATE_LIMITED`](/docs/errors#RATE_LIMITED): The key, or an address that sent no valid key, made more requests than its limit allows. With `scope`: `workspace_reads`: too many reads of the workspace are under way and wait; `waiting_readers`: too many calls of `GET /events` wait; `large_batches`: batches of the workspace above 256 KiB are under way; `webhook_replay`: a replay was refused as too large within the last ten seconds; `webhook_changes`: the webhook was changed, or its secret replaced, too often within an hour; `webhook_verify`: the receiver was checked too often; `destination_changes`: event destinations were made, changed or replayed too often within an hour; `number_profile`: too many reads and changes of the profile of one number.
         *     - [`UPLOAD_LIMIT_REACHED`](/docs/errors#UPLOAD_LIMIT_REACHED): The workspace has as many uploads under way at once as it may.
         */
        Refused429_RATE_LIMITED_UPLOAD_LIMIT_REACHED: {
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
        /**
         * @description - [`RATE_LIMITED`](/docs/errors#RATE_LIMITED): The key, or an address that sent no valid key, made more requests than its limit allows. With `scope`: `workspace_reads`: too many reads of the workspace are under way and wait; `waiting_readers`: too many calls of `GET /events` wait; `large_batches`: batches of the workspace above 256 KiB are under way; `webhook_replay`: a replay was refused as too large within the last ten seconds; `webhook_changes`: the webhook was changed, or its secret replaced, too often within an hour; `webhook_verify`: the receiver was checked too often; `destination_changes`: event destinations were made, changed or replayed too often within an hour; `number_profile`: too many reads and changes of the profile of one number.
         *     - [`WORKSPACE_LIMIT_REACHED`](/docs/errors#WORKSPACE_LIMIT_REACHED): As many messages as the workspace's limit of a day allows were accepted on this day of its time zone. Messages that failed unsent are given back.
         */
        Refused429_RATE_LIMITED_WORKSPACE_LIMIT_REACHED: {
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
        /** @description - [`PLATFORM_UNAVAILABLE`](/docs/errors#PLATFORM_UNAVAILABLE): The WhatsApp platform could not be reached or answered with an error of its own. */
        Refused502_PLATFORM_UNAVAILABLE: {
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
        /** @description - [`PLATFORM_TIMEOUT`](/docs/errors#PLATFORM_TIMEOUT): The WhatsApp platform did not answer within the time limit. */
        Refused504_PLATFORM_TIMEOUT: {
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
    };
    parameters: {
        /**
         * @description The id of the event, the same for all its attempts.
         * @example 01936f70-1c3d-7a55-9e21-0b1c2d3e4f5a
         */
        "webhook-id": string;
        /**
         * @description `v1,` and the base64 HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<body>` under the secret; during 24 hours after a rotation several, separated by blanks. Verify every delivery from its raw body, with a library of standardwebhooks.com and the secret of the webhook, and refuse timestamps more than five minutes off.
         * @example v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=
         */
        "webhook-signature": string;
        /**
         * @description When this attempt was made, in seconds since 1970.
         * @example 1795248001
         */
        "webhook-timestamp": string;
    };
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
    connections_list: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
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
                     *           "created_at": "2026-11-21T08:00:00.000Z"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["ConnectionListResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_API_VERSION_NOT_SUPPORTED"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    profile_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Connection ID, from GET /connections. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The whole profile. */
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
                     *         "about": "Fresh coffee, open until eight",
                     *         "address": "12 Harbour Street, Dublin",
                     *         "description": "We roast our own beans.",
                     *         "email": "hello@example.com",
                     *         "vertical": "RESTAURANT",
                     *         "websites": [
                     *           "https://example.com"
                     *         ],
                     *         "profile_picture_url": null,
                     *         "updated_at": "2026-11-21T08:00:00.000Z"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SingleProfileResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_CONNECTION_NOT_FOUND"];
            409: components["responses"]["Refused409_CONNECTION_NOT_READY"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            502: components["responses"]["Refused502_PLATFORM_UNAVAILABLE"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
            504: components["responses"]["Refused504_PLATFORM_TIMEOUT"];
        };
    };
    profile_update: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Connection ID, from GET /connections. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "about": "Fresh coffee, open until eight",
                 *       "address": "12 Harbour Street, Dublin",
                 *       "description": "We roast our own beans.",
                 *       "email": "hello@example.com",
                 *       "vertical": "RESTAURANT",
                 *       "websites": [
                 *         "https://example.com"
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["UpdateProfileRequest"];
            };
        };
        responses: {
            /** @description The whole profile. */
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
                     *         "about": "Fresh coffee, open until eight",
                     *         "address": "12 Harbour Street, Dublin",
                     *         "description": "We roast our own beans.",
                     *         "email": "hello@example.com",
                     *         "vertical": "RESTAURANT",
                     *         "websites": [
                     *           "https://example.com"
                     *         ],
                     *         "profile_picture_url": null,
                     *         "updated_at": "2026-11-21T08:00:00.000Z"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SingleProfileResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST_PLATFORM_REJECTED"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_CONNECTION_NOT_FOUND"];
            409: components["responses"]["Refused409_CONNECTION_NOT_READY"];
            413: components["responses"]["Refused413_PAYLOAD_TOO_LARGE"];
            415: components["responses"]["Refused415_UNSUPPORTED_CONTENT_TYPE"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            502: components["responses"]["Refused502_PLATFORM_UNAVAILABLE"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
            504: components["responses"]["Refused504_PLATFORM_TIMEOUT"];
        };
    };
    templates_list: {
        parameters: {
            query?: {
                /** @description `next_after` of the page before. */
                after?: string;
                /** @description Only templates of this category; small letters will do. */
                category?: "UTILITY" | "MARKETING" | "AUTHENTICATION";
                /** @description Only this language, such as `en_US`. */
                language?: string;
                /** @description How many at the most. */
                limit?: number;
                /** @description Only templates whose name contains this, such as `order`. */
                name?: string;
                /** @description Only templates in this state. */
                status?: "pending" | "approved" | "rejected" | "paused" | "disabled" | "in_appeal" | "pending_deletion";
            };
            header?: never;
            path: {
                /** @description Connection ID, from GET /connections. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The templates. */
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
                     *           "id": "01936f70-11aa-7b2c-9c3d-4e5f60718293",
                     *           "connection_id": "01936f6d-0a1b-7f00-8c11-5a6b7c8d9e0f",
                     *           "name": "order_update",
                     *           "language": "en_US",
                     *           "category": "UTILITY",
                     *           "announced_category": null,
                     *           "announced_for": null,
                     *           "status": "approved",
                     *           "platform_status": "APPROVED",
                     *           "rejected_reason": null,
                     *           "quality": "GREEN",
                     *           "parameter_format": "POSITIONAL",
                     *           "message_send_ttl_seconds": null,
                     *           "components": [
                     *             {
                     *               "type": "BODY",
                     *               "text": "Hello {{1}}, your order {{2}} is on its way.",
                     *               "example": {
                     *                 "body_text": [
                     *                   [
                     *                     "Ana",
                     *                     "4711"
                     *                   ]
                     *                 ]
                     *               }
                     *             }
                     *           ],
                     *           "header_media": null,
                     *           "variables": [
                     *             {
                     *               "component": "body",
                     *               "name": "1",
                     *               "button_index": null,
                     *               "card_index": null,
                     *               "example": "Ana"
                     *             }
                     *           ],
                     *           "created_at": "2026-11-21T08:00:00.000Z",
                     *           "updated_at": "2026-11-21T08:05:00.000Z",
                     *           "synced_at": "2026-11-21T08:05:30.000Z"
                     *         }
                     *       ],
                     *       "pagination": {
                     *         "next_after": null
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["TemplateListResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST_PLATFORM_REJECTED"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_CONNECTION_NOT_FOUND"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            502: components["responses"]["Refused502_PLATFORM_UNAVAILABLE"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
            504: components["responses"]["Refused504_PLATFORM_TIMEOUT"];
        };
    };
    templates_create: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Connection ID, from GET /connections. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateTemplate"];
            };
        };
        responses: {
            /** @description Handed to the review. */
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
                     *         "id": "01936f70-11aa-7b2c-9c3d-4e5f60718293",
                     *         "connection_id": "01936f6d-0a1b-7f00-8c11-5a6b7c8d9e0f",
                     *         "name": "order_update",
                     *         "language": "en_US",
                     *         "category": "UTILITY",
                     *         "announced_category": null,
                     *         "announced_for": null,
                     *         "status": "approved",
                     *         "platform_status": "APPROVED",
                     *         "rejected_reason": null,
                     *         "quality": "GREEN",
                     *         "parameter_format": "POSITIONAL",
                     *         "message_send_ttl_seconds": null,
                     *         "components": [
                     *           {
                     *             "type": "BODY",
                     *             "text": "Hello {{1}}, your order {{2}} is on its way.",
                     *             "example": {
                     *               "body_text": [
                     *                 [
                     *                   "Ana",
                     *                   "4711"
                     *                 ]
                     *               ]
                     *             }
                     *           }
                     *         ],
                     *         "header_media": null,
                     *         "variables": [
                     *           {
                     *             "component": "body",
                     *             "name": "1",
                     *             "button_index": null,
                     *             "card_index": null,
                     *             "example": "Ana"
                     *           }
                     *         ],
                     *         "created_at": "2026-11-21T08:00:00.000Z",
                     *         "updated_at": "2026-11-21T08:05:00.000Z",
                     *         "synced_at": "2026-11-21T08:05:30.000Z"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SingleTemplateResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST_PLATFORM_REJECTED"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_CONNECTION_NOT_FOUND_MEDIA_NOT_FOUND"];
            409: components["responses"]["Refused409_CONNECTION_NOT_READY_META_APP_ID_MISSING"];
            413: components["responses"]["Refused413_PAYLOAD_TOO_LARGE"];
            415: components["responses"]["Refused415_UNSUPPORTED_CONTENT_TYPE"];
            422: components["responses"]["Refused422_MEDIA_TYPE_MISMATCH"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            502: components["responses"]["Refused502_PLATFORM_UNAVAILABLE"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
            504: components["responses"]["Refused504_PLATFORM_TIMEOUT"];
        };
    };
    templates_get: {
        parameters: {
            query?: {
                /** @description Only this language, such as `en_US`. */
                language?: string;
            };
            header?: never;
            path: {
                /** @description Connection ID, from GET /connections. */
                id: string;
                /** @description The template's name. */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The template. */
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
                     *         "name": "order_update",
                     *         "versions": [
                     *           {
                     *             "id": "01936f70-11aa-7b2c-9c3d-4e5f60718293",
                     *             "connection_id": "01936f6d-0a1b-7f00-8c11-5a6b7c8d9e0f",
                     *             "name": "order_update",
                     *             "language": "en_US",
                     *             "category": "UTILITY",
                     *             "announced_category": null,
                     *             "announced_for": null,
                     *             "status": "approved",
                     *             "platform_status": "APPROVED",
                     *             "rejected_reason": null,
                     *             "quality": "GREEN",
                     *             "parameter_format": "POSITIONAL",
                     *             "message_send_ttl_seconds": null,
                     *             "components": [
                     *               {
                     *                 "type": "BODY",
                     *                 "text": "Hello {{1}}, your order {{2}} is on its way.",
                     *                 "example": {
                     *                   "body_text": [
                     *                     [
                     *                       "Ana",
                     *                       "4711"
                     *                     ]
                     *                   ]
                     *                 }
                     *               }
                     *             ],
                     *             "header_media": null,
                     *             "variables": [
                     *               {
                     *                 "component": "body",
                     *                 "name": "1",
                     *                 "button_index": null,
                     *                 "card_index": null,
                     *                 "example": "Ana"
                     *               }
                     *             ],
                     *             "created_at": "2026-11-21T08:00:00.000Z",
                     *             "updated_at": "2026-11-21T08:05:00.000Z",
                     *             "synced_at": "2026-11-21T08:05:30.000Z"
                     *           }
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["TemplateVersionsResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST_PLATFORM_REJECTED"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_CONNECTION_NOT_FOUND_TEMPLATE_NOT_FOUND"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            502: components["responses"]["Refused502_PLATFORM_UNAVAILABLE"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
            504: components["responses"]["Refused504_PLATFORM_TIMEOUT"];
        };
    };
    templates_remove: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Connection ID, from GET /connections. */
                id: string;
                /** @description The template's name. */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted. */
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
                     *         "name": "order_update",
                     *         "deleted_languages": [
                     *           "de",
                     *           "en_US"
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["DeletedTemplateResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST_PLATFORM_REJECTED"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_CONNECTION_NOT_FOUND_TEMPLATE_NOT_FOUND"];
            409: components["responses"]["Refused409_CONNECTION_NOT_READY"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            502: components["responses"]["Refused502_PLATFORM_UNAVAILABLE"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
            504: components["responses"]["Refused504_PLATFORM_TIMEOUT"];
        };
    };
    templates_edit: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Connection ID, from GET /connections. */
                id: string;
                /** @description The template's name. */
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EditTemplate"];
            };
        };
        responses: {
            /** @description Handed to the review. */
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
                     *         "id": "01936f70-11aa-7b2c-9c3d-4e5f60718293",
                     *         "connection_id": "01936f6d-0a1b-7f00-8c11-5a6b7c8d9e0f",
                     *         "name": "order_update",
                     *         "language": "en_US",
                     *         "category": "UTILITY",
                     *         "announced_category": null,
                     *         "announced_for": null,
                     *         "status": "approved",
                     *         "platform_status": "APPROVED",
                     *         "rejected_reason": null,
                     *         "quality": "GREEN",
                     *         "parameter_format": "POSITIONAL",
                     *         "message_send_ttl_seconds": null,
                     *         "components": [
                     *           {
                     *             "type": "BODY",
                     *             "text": "Hello {{1}}, your order {{2}} is on its way.",
                     *             "example": {
                     *               "body_text": [
                     *                 [
                     *                   "Ana",
                     *                   "4711"
                     *                 ]
                     *               ]
                     *             }
                     *           }
                     *         ],
                     *         "header_media": null,
                     *         "variables": [
                     *           {
                     *             "component": "body",
                     *             "name": "1",
                     *             "button_index": null,
                     *             "card_index": null,
                     *             "example": "Ana"
                     *           }
                     *         ],
                     *         "created_at": "2026-11-21T08:00:00.000Z",
                     *         "updated_at": "2026-11-21T08:05:00.000Z",
                     *         "synced_at": "2026-11-21T08:05:30.000Z"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SingleTemplateResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST_PLATFORM_REJECTED"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_templates_edit"];
            409: components["responses"]["Refused409_CONNECTION_NOT_READY_META_APP_ID_MISSING"];
            413: components["responses"]["Refused413_PAYLOAD_TOO_LARGE"];
            415: components["responses"]["Refused415_UNSUPPORTED_CONTENT_TYPE"];
            422: components["responses"]["Refused422_MEDIA_TYPE_MISMATCH"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            502: components["responses"]["Refused502_PLATFORM_UNAVAILABLE"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
            504: components["responses"]["Refused504_PLATFORM_TIMEOUT"];
        };
    };
    templates_preview: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Connection ID, from GET /connections. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PreviewTemplateRequest"];
            };
        };
        responses: {
            /** @description The rendered template. */
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
                     *         "name": "order_update",
                     *         "language": "en_US",
                     *         "header": {
                     *           "format": "TEXT",
                     *           "text": "Order 4711"
                     *         },
                     *         "body": "Hello Ana, your order 4711 is on its way.",
                     *         "footer": "Lucky Shrub",
                     *         "buttons": [
                     *           {
                     *             "type": "URL",
                     *             "text": "Track",
                     *             "url": "https://example.com/t/4711",
                     *             "phone_number": "+15550100001",
                     *             "code": "123456"
                     *           }
                     *         ],
                     *         "missing": [],
                     *         "unused": []
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["PreviewResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST_PLATFORM_REJECTED"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_CONNECTION_NOT_FOUND_TEMPLATE_NOT_FOUND"];
            413: components["responses"]["Refused413_PAYLOAD_TOO_LARGE"];
            415: components["responses"]["Refused415_UNSUPPORTED_CONTENT_TYPE"];
            422: components["responses"]["Refused422_TEMPLATE_PARAMETERS_MISMATCH"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            502: components["responses"]["Refused502_PLATFORM_UNAVAILABLE"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
            504: components["responses"]["Refused504_PLATFORM_TIMEOUT"];
        };
    };
    conversations_list: {
        parameters: {
            query?: {
                /** @description Only those with exactly this assignee, such as `ana@example.com`. */
                assignee?: string;
                /** @description Only those that are assigned to this person: an id from GET /members. */
                assignee_id?: string;
                /** @description Only what is older than this time, such as `2026-11-21T08:00:00.000Z`. */
                before?: string;
                /** @description Together with `before`: the last entry of the previous page. */
                before_id?: string;
                /** @description `true`: only closed conversations; `false`: only those that are not. */
                closed?: "true" | "false";
                /** @description Only conversations of this number: an id from GET /connections. */
                connection_id?: string;
                /** @description How many at the most. */
                limit?: number;
                /** @description Only those with the contact who has this business-scoped user id, such as `DE.1795`. */
                recipient?: string;
                /**
                 * @description Only those whose contact's name, or last name, begins with this, whatever the case and accents; or whose number
                 *     begins or ends with these digits, spaces and `+` aside. The first 50 matches are looked at: write more for others.
                 */
                search?: string;
                /** @description Only what is of this time or later, by the time that the list is in the order of. */
                since?: string;
                /** @description Only those with the contact who has this number. */
                to?: string;
                /** @description `true`: only those with messages that wait to be read, as `unread_count` counts them. */
                unread?: "true" | "false";
                /** @description Only what is of before this time. */
                until?: string;
                /**
                 * @description `true`: only those in which the customer wrote last, so that they wait for an answer. They are in the order of what the
                 *     customer wrote. Reactions, corrections and withdrawals of the customer do not count, and neither does an answer of yours that failed.
                 */
                waiting?: "true" | "false";
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
            /** @description One page. */
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
                     *           "id": "01936f6d-9a1b-7f00-8c11-5a6b7c8d9e0f",
                     *           "connection_id": "01936f6d-0a1b-7f00-8c11-5a6b7c8d9e0f",
                     *           "contact": {
                     *             "phone": "15550100001",
                     *             "user_id": null,
                     *             "name": "Ana Lima",
                     *             "previous": {
                     *               "phones": [
                     *                 "15550100000"
                     *               ],
                     *               "user_ids": [
                     *                 "DE.1794"
                     *               ]
                     *             }
                     *           },
                     *           "last_message": {
                     *             "id": "01936f6e-2b5c-7c2e-9d8a-3f1b2a4c5d6e",
                     *             "connection_id": "01936f6d-0a1b-7f00-8c11-5a6b7c8d9e0f",
                     *             "conversation_id": "01936f6d-9a1b-7f00-8c11-5a6b7c8d9e0f",
                     *             "direction": "outbound",
                     *             "source": "api",
                     *             "from": "15550100002",
                     *             "to": "15550100001",
                     *             "recipient": null,
                     *             "contact": {
                     *               "phone": "15550100001",
                     *               "user_id": null,
                     *               "name": "Ana Lima"
                     *             },
                     *             "type": "text",
                     *             "body": "Your table is ready.",
                     *             "content": {
                     *               "body": "Your table is ready."
                     *             },
                     *             "media_object_id": null,
                     *             "reply_to_message_id": null,
                     *             "status": "delivered",
                     *             "failure_category": null,
                     *             "pricing": {
                     *               "billable": true,
                     *               "category": "utility",
                     *               "type": "regular",
                     *               "subtype": null,
                     *               "model": "PMP"
                     *             },
                     *             "client_message_id": "order-4711",
                     *             "tag": "spring-sale",
                     *             "metadata": {
                     *               "customer": "c-17"
                     *             },
                     *             "meta_message_id": "wamid.HBgLMTU1NTAxMDAwMDEVAgARGBI5QTNDQTVCM0Q0Q0Q2RTY3RTcA",
                     *             "created_at": "2026-11-21T08:00:00.125Z",
                     *             "standby": false,
                     *             "scheduled_for": "2026-11-24T09:00:00.000Z",
                     *             "context": {
                     *               "quoted_platform_id": "wamid.HBgLMTU1NTAxMDAwMDEVAgARGBI5QTNDQTVCM0Q0Q0Q2RTY3RTcA"
                     *             },
                     *             "referral": {
                     *               "source_type": "ad",
                     *               "source_id": "120210",
                     *               "ctwa_clid": "ARAkLkA8"
                     *             },
                     *             "username": "ana.lima",
                     *             "group_id": "Y2FwaV9ncm91cDox",
                     *             "edits_message_id": "01936f6e-2b5c-7c2e-9d8a-3f1b2a4c5d6e",
                     *             "revokes_message_id": "01936f6e-2b5c-7c2e-9d8a-3f1b2a4c5d6e",
                     *             "edited_at": "2026-11-21T08:00:00.125Z",
                     *             "revoked_at": null,
                     *             "current": {
                     *               "body": "Is my table ready at eight?",
                     *               "content": {
                     *                 "body": "Is my table ready at eight?"
                     *               }
                     *             }
                     *           },
                     *           "last_inbound_at": "2026-11-21T08:00:00.125Z",
                     *           "service_window_closes_at": "2026-11-22T08:00:00.125Z",
                     *           "unread_count": 1,
                     *           "owner": "you",
                     *           "owner_role": null,
                     *           "closed": false,
                     *           "assignee": "ana@example.com",
                     *           "assignee_id": "01936f75-3e4f-7d50-8162-7c8d9e0f1a2b",
                     *           "created_at": "2026-11-21T08:00:00.125Z",
                     *           "updated_at": "2026-11-21T08:00:00.125Z"
                     *         }
                     *       ],
                     *       "pagination": {
                     *         "next_before": "2026-11-21T08:00:00.125Z",
                     *         "next_before_id": "01936f6e-2b5c-7c2e-9d8a-3f1b2a4c5d6e"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ConversationsResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_CONNECTION_NOT_FOUND"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    conversations_get: {
        parameters: {
            query?: never;
            header?: {
                /** @description Of the answer to your last write: the read finds what was written up to then, also where it may be late. */
                "X-Herald-Read-After"?: string;
            };
            path: {
                /** @description Conversation ID, from GET /conversations or `conversation_id` of a message. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The conversation. */
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
                     *       "data": {
                     *         "id": "01936f6d-9a1b-7f00-8c11-5a6b7c8d9e0f",
                     *         "connection_id": "01936f6d-0a1b-7f00-8c11-5a6b7c8d9e0f",
                     *         "contact": {
                     *           "phone": "15550100001",
                     *           "user_id": null,
                     *           "name": "Ana Lima",
                     *           "previous": {
                     *             "phones": [
                     *               "15550100000"
                     *             ],
                     *             "user_ids": [
                     *               "DE.1794"
                     *             ]
                     *           }
                     *         },
                     *         "last_message": {
                     *           "id": "01936f6e-2b5c-7c2e-9d8a-3f1b2a4c5d6e",
                     *           "connection_id": "01936f6d-0a1b-7f00-8c11-5a6b7c8d9e0f",
                     *           "conversation_id": "01936f6d-9a1b-7f00-8c11-5a6b7c8d9e0f",
                     *           "direction": "outbound",
                     *           "source": "api",
                     *           "from": "15550100002",
                     *           "to": "15550100001",
                     *           "recipient": null,
                     *           "contact": {
                     *             "phone": "15550100001",
                     *             "user_id": null,
                     *             "name": "Ana Lima"
                     *           },
                     *           "type": "text",
                     *           "body": "Your table is ready.",
                     *           "content": {
                     *             "body": "Your table is ready."
                     *           },
                     *           "media_object_id": null,
                     *           "reply_to_message_id": null,
                     *           "status": "delivered",
                     *           "failure_category": null,
                     *           "pricing": {
                     *             "billable": true,
                     *             "category": "utility",
                     *             "type": "regular",
                     *             "subtype": null,
                     *             "model": "PMP"
                     *           },
                     *           "client_message_id": "order-4711",
                     *           "tag": "spring-sale",
                     *           "metadata": {
                     *             "customer": "c-17"
                     *           },
                     *           "meta_message_id": "wamid.HBgLMTU1NTAxMDAwMDEVAgARGBI5QTNDQTVCM0Q0Q0Q2RTY3RTcA",
                     *           "created_at": "2026-11-21T08:00:00.125Z",
                     *           "standby": false,
                     *           "scheduled_for": "2026-11-24T09:00:00.000Z",
                     *           "context": {
                     *             "quoted_platform_id": "wamid.HBgLMTU1NTAxMDAwMDEVAgARGBI5QTNDQTVCM0Q0Q0Q2RTY3RTcA"
                     *           },
                     *           "referral": {
                     *             "source_type": "ad",
                     *             "source_id": "120210",
                     *             "ctwa_clid": "ARAkLkA8"
                     *           },
                     *           "username": "ana.lima",
                     *           "group_id": "Y2FwaV9ncm91cDox",
                     *           "edits_message_id": "01936f6e-2b5c-7c2e-9d8a-3f1b2a4c5d6e",
                     *           "revokes_message_id": "01936f6e-2b5c-7c2e-9d8a-3f1b2a4c5d6e",
                     *           "edited_at": "2026-11-21T08:00:00.125Z",
                     *           "revoked_at": null,
                     *           "current": {
                     *             "body": "Is my table ready at eight?",
                     *             "content": {
                     *               "body": "Is my table ready at eight?"
                     *             }
                     *           }
                     *         },
                     *         "last_inbound_at": "2026-11-21T08:00:00.125Z",
                     *         "service_window_closes_at": "2026-11-22T08:00:00.125Z",
                     *         "unread_count": 1,
                     *         "owner": "you",
                     *         "owner_role": null,
                     *         "closed": false,
                     *         "assignee": "ana@example.com",
                     *         "assignee_id": "01936f75-3e4f-7d50-8162-7c8d9e0f1a2b",
                     *         "created_at": "2026-11-21T08:00:00.125Z",
                     *         "updated_at": "2026-11-21T08:00:00.125Z"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SingleConversationResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_CONVERSATION_NOT_FOUND"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    conversations_update: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Conversation ID, from GET /conversations or `conversation_id` of a message. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["UpdateConversationRequest"];
            };
        };
        responses: {
            /** @description The conversation as it is now. */
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
                     *         "id": "01936f6d-9a1b-7f00-8c11-5a6b7c8d9e0f",
                     *         "connection_id": "01936f6d-0a1b-7f00-8c11-5a6b7c8d9e0f",
                     *         "contact": {
                     *           "phone": "15550100001",
                     *           "user_id": null,
                     *           "name": "Ana Lima",
                     *           "previous": {
                     *             "phones": [
                     *               "15550100000"
                     *             ],
                     *             "user_ids": [
                     *               "DE.1794"
                     *             ]
                     *           }
                     *         },
                     *         "last_message": {
                     *           "id": "01936f6e-2b5c-7c2e-9d8a-3f1b2a4c5d6e",
                     *           "connection_id": "01936f6d-0a1b-7f00-8c11-5a6b7c8d9e0f",
                     *           "conversation_id": "01936f6d-9a1b-7f00-8c11-5a6b7c8d9e0f",
                     *           "direction": "outbound",
                     *           "source": "api",
                     *           "from": "15550100002",
                     *           "to": "15550100001",
                     *           "recipient": null,
                     *           "contact": {
                     *             "phone": "15550100001",
                     *             "user_id": null,
                     *             "name": "Ana Lima"
                     *           },
                     *           "type": "text",
                     *           "body": "Your table is ready.",
                     *           "content": {
                     *             "body": "Your table is ready."
                     *           },
                     *           "media_object_id": null,
                     *           "reply_to_message_id": null,
                     *           "status": "delivered",
                     *           "failure_category": null,
                     *           "pricing": {
                     *             "billable": true,
                     *             "category": "utility",
                     *             "type": "regular",
                     *             "subtype": null,
                     *             "model": "PMP"
                     *           },
                     *           "client_message_id": "order-4711",
                     *           "tag": "spring-sale",
                     *           "metadata": {
                     *             "customer": "c-17"
                     *           },
                     *           "meta_message_id": "wamid.HBgLMTU1NTAxMDAwMDEVAgARGBI5QTNDQTVCM0Q0Q0Q2RTY3RTcA",
                     *           "created_at": "2026-11-21T08:00:00.125Z",
                     *           "standby": false,
                     *           "scheduled_for": "2026-11-24T09:00:00.000Z",
                     *           "context": {
                     *             "quoted_platform_id": "wamid.HBgLMTU1NTAxMDAwMDEVAgARGBI5QTNDQTVCM0Q0Q0Q2RTY3RTcA"
                     *           },
                     *           "referral": {
                     *             "source_type": "ad",
                     *             "source_id": "120210",
                     *             "ctwa_clid": "ARAkLkA8"
                     *           },
                     *           "username": "ana.lima",
                     *           "group_id": "Y2FwaV9ncm91cDox",
                     *           "edits_message_id": "01936f6e-2b5c-7c2e-9d8a-3f1b2a4c5d6e",
                     *           "revokes_message_id": "01936f6e-2b5c-7c2e-9d8a-3f1b2a4c5d6e",
                     *           "edited_at": "2026-11-21T08:00:00.125Z",
                     *           "revoked_at": null,
                     *           "current": {
                     *             "body": "Is my table ready at eight?",
                     *             "content": {
                     *               "body": "Is my table ready at eight?"
                     *             }
                     *           }
                     *         },
                     *         "last_inbound_at": "2026-11-21T08:00:00.125Z",
                     *         "service_window_closes_at": "2026-11-22T08:00:00.125Z",
                     *         "unread_count": 1,
                     *         "owner": "you",
                     *         "owner_role": null,
                     *         "closed": false,
                     *         "assignee": "ana@example.com",
                     *         "assignee_id": "01936f75-3e4f-7d50-8162-7c8d9e0f1a2b",
                     *         "created_at": "2026-11-21T08:00:00.125Z",
                     *         "updated_at": "2026-11-21T08:00:00.125Z"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SingleConversationResponse"] | components["schemas"]["UpdatedConversationResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_CONVERSATION_NOT_FOUND"];
            413: components["responses"]["Refused413_PAYLOAD_TOO_LARGE"];
            415: components["responses"]["Refused415_UNSUPPORTED_CONTENT_TYPE"];
            422: components["responses"]["Refused422_ASSIGNEE_NOT_MEMBER"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    conversations_control: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Conversation ID, from GET /conversations or `conversation_id` of a message. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ControlRequest"];
            };
        };
        responses: {
            /** @description WhatsApp took it: the conversation as it is now. */
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
                     *         "id": "01936f6d-9a1b-7f00-8c11-5a6b7c8d9e0f",
                     *         "connection_id": "01936f6d-0a1b-7f00-8c11-5a6b7c8d9e0f",
                     *         "contact": {
                     *           "phone": "15550100001",
                     *           "user_id": null,
                     *           "name": "Ana Lima",
                     *           "previous": {
                     *             "phones": [
                     *               "15550100000"
                     *             ],
                     *             "user_ids": [
                     *               "DE.1794"
                     *             ]
                     *           }
                     *         },
                     *         "last_message": {
                     *           "id": "01936f6e-2b5c-7c2e-9d8a-3f1b2a4c5d6e",
                     *           "connection_id": "01936f6d-0a1b-7f00-8c11-5a6b7c8d9e0f",
                     *           "conversation_id": "01936f6d-9a1b-7f00-8c11-5a6b7c8d9e0f",
                     *           "direction": "outbound",
                     *           "source": "api",
                     *           "from": "15550100002",
                     *           "to": "15550100001",
                     *           "recipient": null,
                     *           "contact": {
                     *             "phone": "15550100001",
                     *             "user_id": null,
                     *             "name": "Ana Lima"
                     *           },
                     *           "type": "text",
                     *           "body": "Your table is ready.",
                     *           "content": {
                     *             "body": "Your table is ready."
                     *           },
                     *           "media_object_id": null,
                     *           "reply_to_message_id": null,
                     *           "status": "delivered",
                     *           "failure_category": null,
                     *           "pricing": {
                     *             "billable": true,
                     *             "category": "utility",
                     *             "type": "regular",
                     *             "subtype": null,
                     *             "model": "PMP"
                     *           },
                     *           "client_message_id": "order-4711",
                     *           "tag": "spring-sale",
                     *           "metadata": {
                     *             "customer": "c-17"
                     *           },
                     *           "meta_message_id": "wamid.HBgLMTU1NTAxMDAwMDEVAgARGBI5QTNDQTVCM0Q0Q0Q2RTY3RTcA",
                     *           "created_at": "2026-11-21T08:00:00.125Z",
                     *           "standby": false,
                     *           "scheduled_for": "2026-11-24T09:00:00.000Z",
                     *           "context": {
                     *             "quoted_platform_id": "wamid.HBgLMTU1NTAxMDAwMDEVAgARGBI5QTNDQTVCM0Q0Q0Q2RTY3RTcA"
                     *           },
                     *           "referral": {
                     *             "source_type": "ad",
                     *             "source_id": "120210",
                     *             "ctwa_clid": "ARAkLkA8"
                     *           },
                     *           "username": "ana.lima",
                     *           "group_id": "Y2FwaV9ncm91cDox",
                     *           "edits_message_id": "01936f6e-2b5c-7c2e-9d8a-3f1b2a4c5d6e",
                     *           "revokes_message_id": "01936f6e-2b5c-7c2e-9d8a-3f1b2a4c5d6e",
                     *           "edited_at": "2026-11-21T08:00:00.125Z",
                     *           "revoked_at": null,
                     *           "current": {
                     *             "body": "Is my table ready at eight?",
                     *             "content": {
                     *               "body": "Is my table ready at eight?"
                     *             }
                     *           }
                     *         },
                     *         "last_inbound_at": "2026-11-21T08:00:00.125Z",
                     *         "service_window_closes_at": "2026-11-22T08:00:00.125Z",
                     *         "unread_count": 1,
                     *         "owner": "you",
                     *         "owner_role": null,
                     *         "closed": false,
                     *         "assignee": "ana@example.com",
                     *         "assignee_id": "01936f75-3e4f-7d50-8162-7c8d9e0f1a2b",
                     *         "created_at": "2026-11-21T08:00:00.125Z",
                     *         "updated_at": "2026-11-21T08:00:00.125Z"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SingleConversationResponse"] | components["schemas"]["ControlledConversationResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST_PLATFORM_REJECTED"];
            401: components["responses"]["Refused401"];
            402: components["responses"]["Refused402_SUBSCRIPTION_REQUIRED"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_CONVERSATION_NOT_FOUND"];
            409: components["responses"]["Refused409_CONNECTION_NOT_READY_CONTROL_NOT_ALLOWED"];
            413: components["responses"]["Refused413_PAYLOAD_TOO_LARGE"];
            415: components["responses"]["Refused415_UNSUPPORTED_CONTENT_TYPE"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            502: components["responses"]["Refused502_PLATFORM_UNAVAILABLE"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
            504: components["responses"]["Refused504_PLATFORM_TIMEOUT"];
        };
    };
    destinations_list: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All of them. */
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
                     *           "name": "orders",
                     *           "kind": "nats",
                     *           "nats": {
                     *             "url": "tls://nats.example.com:4222",
                     *             "subject": "herald.{type}",
                     *             "username": "herald"
                     *           },
                     *           "rabbitmq": {
                     *             "url": "amqps://rabbitmq.example.com:5671/production",
                     *             "exchange": "herald",
                     *             "routing_key": "{type}",
                     *             "username": "herald"
                     *           },
                     *           "sqs": {
                     *             "queue_url": "https://sqs.eu-central-1.amazonaws.com/123456789012/herald.fifo",
                     *             "region": "eu-central-1",
                     *             "access_key_id": "AKIAIOSFODNN7EXAMPLE"
                     *           },
                     *           "secrets": [
                     *             "password"
                     *           ],
                     *           "events": [
                     *             "message.received"
                     *           ],
                     *           "connection_ids": [
                     *             "01936f6d-0a1b-7f00-8c11-5a6b7c8d9e0f"
                     *           ],
                     *           "status": "active",
                     *           "failing_since": null,
                     *           "last_error": null,
                     *           "last_error_at": null,
                     *           "retry_at": null,
                     *           "last_written_at": "2026-11-21T08:00:01.250Z",
                     *           "written": 4711,
                     *           "waiting": 0,
                     *           "waiting_since": null,
                     *           "lost": 0,
                     *           "lost_at": null,
                     *           "created_at": "2026-11-21T08:00:01.250Z",
                     *           "updated_at": "2026-11-21T08:00:01.250Z"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["DestinationListResponse"];
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
    destinations_create: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateDestinationRequest"];
            };
        };
        responses: {
            /** @description Made; the first event is written within a second. */
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
                     *         "name": "orders",
                     *         "kind": "nats",
                     *         "nats": {
                     *           "url": "tls://nats.example.com:4222",
                     *           "subject": "herald.{type}",
                     *           "username": "herald"
                     *         },
                     *         "rabbitmq": {
                     *           "url": "amqps://rabbitmq.example.com:5671/production",
                     *           "exchange": "herald",
                     *           "routing_key": "{type}",
                     *           "username": "herald"
                     *         },
                     *         "sqs": {
                     *           "queue_url": "https://sqs.eu-central-1.amazonaws.com/123456789012/herald.fifo",
                     *           "region": "eu-central-1",
                     *           "access_key_id": "AKIAIOSFODNN7EXAMPLE"
                     *         },
                     *         "secrets": [
                     *           "password"
                     *         ],
                     *         "events": [
                     *           "message.received"
                     *         ],
                     *         "connection_ids": [
                     *           "01936f6d-0a1b-7f00-8c11-5a6b7c8d9e0f"
                     *         ],
                     *         "status": "active",
                     *         "failing_since": null,
                     *         "last_error": null,
                     *         "last_error_at": null,
                     *         "retry_at": null,
                     *         "last_written_at": "2026-11-21T08:00:01.250Z",
                     *         "written": 4711,
                     *         "waiting": 0,
                     *         "waiting_since": null,
                     *         "lost": 0,
                     *         "lost_at": null,
                     *         "created_at": "2026-11-21T08:00:01.250Z",
                     *         "updated_at": "2026-11-21T08:00:01.250Z"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["DestinationResponse"];
                };
            };
            400: components["responses"]["Refused400_DESTINATION_ADDRESS_NOT_ALLOWED_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_DESTINATION_CONNECTION_NOT_FOUND"];
            409: components["responses"]["Refused409_DESTINATION_LIMIT_REACHED_DESTINATION_NAME_TAKEN"];
            413: components["responses"]["Refused413_PAYLOAD_TOO_LARGE"];
            415: components["responses"]["Refused415_UNSUPPORTED_CONTENT_TYPE"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    destinations_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a destination, from GET /destinations. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The destination. */
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
                     *         "name": "orders",
                     *         "kind": "nats",
                     *         "nats": {
                     *           "url": "tls://nats.example.com:4222",
                     *           "subject": "herald.{type}",
                     *           "username": "herald"
                     *         },
                     *         "rabbitmq": {
                     *           "url": "amqps://rabbitmq.example.com:5671/production",
                     *           "exchange": "herald",
                     *           "routing_key": "{type}",
                     *           "username": "herald"
                     *         },
                     *         "sqs": {
                     *           "queue_url": "https://sqs.eu-central-1.amazonaws.com/123456789012/herald.fifo",
                     *           "region": "eu-central-1",
                     *           "access_key_id": "AKIAIOSFODNN7EXAMPLE"
                     *         },
                     *         "secrets": [
                     *           "password"
                     *         ],
                     *         "events": [
                     *           "message.received"
                     *         ],
                     *         "connection_ids": [
                     *           "01936f6d-0a1b-7f00-8c11-5a6b7c8d9e0f"
                     *         ],
                     *         "status": "active",
                     *         "failing_since": null,
                     *         "last_error": null,
                     *         "last_error_at": null,
                     *         "retry_at": null,
                     *         "last_written_at": "2026-11-21T08:00:01.250Z",
                     *         "written": 4711,
                     *         "waiting": 0,
                     *         "waiting_since": null,
                     *         "lost": 0,
                     *         "lost_at": null,
                     *         "created_at": "2026-11-21T08:00:01.250Z",
                     *         "updated_at": "2026-11-21T08:00:01.250Z"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["DestinationResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_DESTINATION_NOT_FOUND"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    destinations_remove: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a destination, from GET /destinations. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted. */
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
            404: components["responses"]["Refused404_DESTINATION_NOT_FOUND"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    destinations_change: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a destination, from GET /destinations. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ChangeDestinationRequest"];
            };
        };
        responses: {
            /** @description The destination as it is now. */
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
                     *         "name": "orders",
                     *         "kind": "nats",
                     *         "nats": {
                     *           "url": "tls://nats.example.com:4222",
                     *           "subject": "herald.{type}",
                     *           "username": "herald"
                     *         },
                     *         "rabbitmq": {
                     *           "url": "amqps://rabbitmq.example.com:5671/production",
                     *           "exchange": "herald",
                     *           "routing_key": "{type}",
                     *           "username": "herald"
                     *         },
                     *         "sqs": {
                     *           "queue_url": "https://sqs.eu-central-1.amazonaws.com/123456789012/herald.fifo",
                     *           "region": "eu-central-1",
                     *           "access_key_id": "AKIAIOSFODNN7EXAMPLE"
                     *         },
                     *         "secrets": [
                     *           "password"
                     *         ],
                     *         "events": [
                     *           "message.received"
                     *         ],
                     *         "connection_ids": [
                     *           "01936f6d-0a1b-7f00-8c11-5a6b7c8d9e0f"
                     *         ],
                     *         "status": "active",
                     *         "failing_since": null,
                     *         "last_error": null,
                     *         "last_error_at": null,
                     *         "retry_at": null,
                     *         "last_written_at": "2026-11-21T08:00:01.250Z",
                     *         "written": 4711,
                     *         "waiting": 0,
                     *         "waiting_since": null,
                     *         "lost": 0,
                     *         "lost_at": null,
                     *         "created_at": "2026-11-21T08:00:01.250Z",
                     *         "updated_at": "2026-11-21T08:00:01.250Z"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["DestinationResponse"];
                };
            };
            400: components["responses"]["Refused400_DESTINATION_ADDRESS_NOT_ALLOWED_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_DESTINATION_CONNECTION_NOT_FOUND_DESTINATION_NOT_FOUND"];
            409: components["responses"]["Refused409_DESTINATION_NAME_TAKEN"];
            413: components["responses"]["Refused413_PAYLOAD_TOO_LARGE"];
            415: components["responses"]["Refused415_UNSUPPORTED_CONTENT_TYPE"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    destinations_pause: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a destination, from GET /destinations. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The destination as it is now. */
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
                     *         "name": "orders",
                     *         "kind": "nats",
                     *         "nats": {
                     *           "url": "tls://nats.example.com:4222",
                     *           "subject": "herald.{type}",
                     *           "username": "herald"
                     *         },
                     *         "rabbitmq": {
                     *           "url": "amqps://rabbitmq.example.com:5671/production",
                     *           "exchange": "herald",
                     *           "routing_key": "{type}",
                     *           "username": "herald"
                     *         },
                     *         "sqs": {
                     *           "queue_url": "https://sqs.eu-central-1.amazonaws.com/123456789012/herald.fifo",
                     *           "region": "eu-central-1",
                     *           "access_key_id": "AKIAIOSFODNN7EXAMPLE"
                     *         },
                     *         "secrets": [
                     *           "password"
                     *         ],
                     *         "events": [
                     *           "message.received"
                     *         ],
                     *         "connection_ids": [
                     *           "01936f6d-0a1b-7f00-8c11-5a6b7c8d9e0f"
                     *         ],
                     *         "status": "active",
                     *         "failing_since": null,
                     *         "last_error": null,
                     *         "last_error_at": null,
                     *         "retry_at": null,
                     *         "last_written_at": "2026-11-21T08:00:01.250Z",
                     *         "written": 4711,
                     *         "waiting": 0,
                     *         "waiting_since": null,
                     *         "lost": 0,
                     *         "lost_at": null,
                     *         "created_at": "2026-11-21T08:00:01.250Z",
                     *         "updated_at": "2026-11-21T08:00:01.250Z"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["DestinationResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_DESTINATION_NOT_FOUND"];
            413: components["responses"]["Refused413_PAYLOAD_TOO_LARGE"];
            415: components["responses"]["Refused415_UNSUPPORTED_CONTENT_TYPE"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    destinations_replay: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a destination, from GET /destinations. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "since": "2026-11-20T08:00:00.000Z"
                 *     }
                 */
                "application/json": components["schemas"]["ReplayDestinationRequest"];
            };
        };
        responses: {
            /** @description The destination as it is now. */
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
                     *         "name": "orders",
                     *         "kind": "nats",
                     *         "nats": {
                     *           "url": "tls://nats.example.com:4222",
                     *           "subject": "herald.{type}",
                     *           "username": "herald"
                     *         },
                     *         "rabbitmq": {
                     *           "url": "amqps://rabbitmq.example.com:5671/production",
                     *           "exchange": "herald",
                     *           "routing_key": "{type}",
                     *           "username": "herald"
                     *         },
                     *         "sqs": {
                     *           "queue_url": "https://sqs.eu-central-1.amazonaws.com/123456789012/herald.fifo",
                     *           "region": "eu-central-1",
                     *           "access_key_id": "AKIAIOSFODNN7EXAMPLE"
                     *         },
                     *         "secrets": [
                     *           "password"
                     *         ],
                     *         "events": [
                     *           "message.received"
                     *         ],
                     *         "connection_ids": [
                     *           "01936f6d-0a1b-7f00-8c11-5a6b7c8d9e0f"
                     *         ],
                     *         "status": "active",
                     *         "failing_since": null,
                     *         "last_error": null,
                     *         "last_error_at": null,
                     *         "retry_at": null,
                     *         "last_written_at": "2026-11-21T08:00:01.250Z",
                     *         "written": 4711,
                     *         "waiting": 0,
                     *         "waiting_since": null,
                     *         "lost": 0,
                     *         "lost_at": null,
                     *         "created_at": "2026-11-21T08:00:01.250Z",
                     *         "updated_at": "2026-11-21T08:00:01.250Z"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["DestinationResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_DESTINATION_NOT_FOUND"];
            413: components["responses"]["Refused413_PAYLOAD_TOO_LARGE"];
            415: components["responses"]["Refused415_UNSUPPORTED_CONTENT_TYPE"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    destinations_resume: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a destination, from GET /destinations. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The destination as it is now. */
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
                     *         "name": "orders",
                     *         "kind": "nats",
                     *         "nats": {
                     *           "url": "tls://nats.example.com:4222",
                     *           "subject": "herald.{type}",
                     *           "username": "herald"
                     *         },
                     *         "rabbitmq": {
                     *           "url": "amqps://rabbitmq.example.com:5671/production",
                     *           "exchange": "herald",
                     *           "routing_key": "{type}",
                     *           "username": "herald"
                     *         },
                     *         "sqs": {
                     *           "queue_url": "https://sqs.eu-central-1.amazonaws.com/123456789012/herald.fifo",
                     *           "region": "eu-central-1",
                     *           "access_key_id": "AKIAIOSFODNN7EXAMPLE"
                     *         },
                     *         "secrets": [
                     *           "password"
                     *         ],
                     *         "events": [
                     *           "message.received"
                     *         ],
                     *         "connection_ids": [
                     *           "01936f6d-0a1b-7f00-8c11-5a6b7c8d9e0f"
                     *         ],
                     *         "status": "active",
                     *         "failing_since": null,
                     *         "last_error": null,
                     *         "last_error_at": null,
                     *         "retry_at": null,
                     *         "last_written_at": "2026-11-21T08:00:01.250Z",
                     *         "written": 4711,
                     *         "waiting": 0,
                     *         "waiting_since": null,
                     *         "lost": 0,
                     *         "lost_at": null,
                     *         "created_at": "2026-11-21T08:00:01.250Z",
                     *         "updated_at": "2026-11-21T08:00:01.250Z"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["DestinationResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_DESTINATION_NOT_FOUND"];
            413: components["responses"]["Refused413_PAYLOAD_TOO_LARGE"];
            415: components["responses"]["Refused415_UNSUPPORTED_CONTENT_TYPE"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    destinations_test: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a destination, from GET /destinations. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Tried; `written` says with which outcome. */
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
                     *         "written": true,
                     *         "error": null,
                     *         "event_id": "01936f70-1c3d-7a55-9e21-0b1c2d3e4f5a"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["DestinationTestResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_DESTINATION_NOT_FOUND"];
            413: components["responses"]["Refused413_PAYLOAD_TOO_LARGE"];
            415: components["responses"]["Refused415_UNSUPPORTED_CONTENT_TYPE"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    events_list: {
        parameters: {
            query?: {
                /**
                 * @description `next` of the answer before, or the `cursor` of an event: what follows it is answered. `now`: only what comes from
                 *     now on. Left out: from the oldest event that is kept.
                 */
                after?: string;
                /** @description How many at the most. */
                limit?: number;
                /** @description Only events of these types, separated by commas, such as `message.received,media.ready`; others are passed over. */
                types?: string;
                /** @description Seconds to wait for an event where none is there; 0: answer at once. */
                wait?: number;
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
            /** @description One page, oldest first. */
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
                     *           "id": "01936f70-1c3d-7a55-9e21-0b1c2d3e4f5a",
                     *           "type": "message.status.updated",
                     *           "created_at": "2026-11-21T08:00:00.125Z",
                     *           "organization_id": "01936f6c-7d3e-7a44-8b21-9c8d7e6f5a4b",
                     *           "cursor": "AX2Gw5cKHd2jAAAAAAAAA-gBk29wHD16VZ4hCxwtPk9a",
                     *           "data": {
                     *             "message_id": "01936f6e-2b5c-7c2e-9d8a-3f1b2a4c5d6e",
                     *             "client_message_id": "order-4711",
                     *             "connection_id": "01936f6d-0a1b-7f00-8c11-5a6b7c8d9e0f",
                     *             "conversation_id": "01936f6d-9a1b-7f00-8c11-5a6b7c8d9e0f",
                     *             "type": "text",
                     *             "tag": "spring-sale",
                     *             "metadata": {
                     *               "customer": "c-17"
                     *             },
                     *             "to": "15550100009",
                     *             "recipient": null,
                     *             "status": "delivered",
                     *             "previous_status": "sent",
                     *             "occurred_at": "2026-11-21T08:00:02.000Z",
                     *             "attempt": 1,
                     *             "failure_category": null,
                     *             "error": null,
                     *             "pricing": {
                     *               "billable": true,
                     *               "category": "utility",
                     *               "type": "regular",
                     *               "subtype": null,
                     *               "model": "PMP"
                     *             },
                     *             "sequence": 3
                     *           }
                     *         }
                     *       ],
                     *       "next": "AX2Gw5cKHd2jAAAAAAAAA-gBk29wHD16VZ4hCxwtPk9a",
                     *       "done": true,
                     *       "omitted": []
                     *     }
                     */
                    "application/json": components["schemas"]["EventsResponse"];
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
    keys_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The key. */
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
                     *         "name": "orders-service",
                     *         "scopes": [
                     *           "messages:read",
                     *           "messages:write"
                     *         ],
                     *         "mode": "live",
                     *         "otp_project": null,
                     *         "expires_at": null,
                     *         "person": null,
                     *         "version": "0.2.0",
                     *         "workspace": {
                     *           "id": "01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f",
                     *           "name": "Example Ltd"
                     *         },
                     *         "rate_limit": {
                     *           "per_second": 50,
                     *           "burst": 100
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["KeyResponse"];
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
    media_list: {
        parameters: {
            query?: {
                /** @description Only what is older than this time, such as `2026-11-21T08:00:00.000Z`. */
                before?: string;
                /** @description Together with `before`: the last entry of the previous page. */
                before_id?: string;
                /** @description Only files of this number: an id from GET /connections. */
                connection_id?: string;
                /** @description `outbound`: uploaded here; `inbound`: sent by customers. */
                direction?: "outbound" | "inbound";
                /** @description How many at the most. */
                limit?: number;
                /** @description Only what is of this time or later, by the time that the list is in the order of. */
                since?: string;
                /** @description Only files of this type. */
                type?: "image" | "video" | "audio" | "document" | "sticker";
                /** @description Only what is of before this time. */
                until?: string;
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
            /** @description One page. */
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
                     *           "id": "01936f70-4d5e-7a41-8b2c-6c7d8e9f0a1b",
                     *           "connection_id": "01936f6d-0a1b-7f00-8c11-5a6b7c8d9e0f",
                     *           "type": "document",
                     *           "mime_type": "application/pdf",
                     *           "size_bytes": 48213,
                     *           "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                     *           "filename": "invoice-2026-11.pdf",
                     *           "voice": false,
                     *           "direction": "outbound",
                     *           "status": "stored",
                     *           "created_at": "2026-11-21T08:00:00.125Z",
                     *           "expires_at": null
                     *         }
                     *       ],
                     *       "pagination": {
                     *         "next_before": "2026-11-21T08:00:00.125Z",
                     *         "next_before_id": "01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["MediaListResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_CONNECTION_NOT_FOUND"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    media_upload: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "multipart/form-data": components["schemas"]["UploadMediaRequest"];
            };
        };
        responses: {
            /** @description Stored. */
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
                     *         "id": "01936f70-4d5e-7a41-8b2c-6c7d8e9f0a1b",
                     *         "connection_id": "01936f6d-0a1b-7f00-8c11-5a6b7c8d9e0f",
                     *         "type": "document",
                     *         "mime_type": "application/pdf",
                     *         "size_bytes": 48213,
                     *         "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                     *         "filename": "invoice-2026-11.pdf",
                     *         "voice": false,
                     *         "direction": "outbound",
                     *         "status": "stored",
                     *         "created_at": "2026-11-21T08:00:00.125Z",
                     *         "expires_at": null
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SingleMediaResponse"];
                };
            };
            400: components["responses"]["Refused400_media_upload"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_CONNECTION_NOT_FOUND"];
            413: components["responses"]["Refused413_PAYLOAD_TOO_LARGE"];
            415: components["responses"]["Refused415_UNSUPPORTED_CONTENT_TYPE"];
            429: components["responses"]["Refused429_RATE_LIMITED_UPLOAD_LIMIT_REACHED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    media_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Media ID, from POST /media or GET /media. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The file. */
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
                     *         "id": "01936f70-4d5e-7a41-8b2c-6c7d8e9f0a1b",
                     *         "connection_id": "01936f6d-0a1b-7f00-8c11-5a6b7c8d9e0f",
                     *         "type": "document",
                     *         "mime_type": "application/pdf",
                     *         "size_bytes": 48213,
                     *         "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                     *         "filename": "invoice-2026-11.pdf",
                     *         "voice": false,
                     *         "direction": "outbound",
                     *         "status": "stored",
                     *         "created_at": "2026-11-21T08:00:00.125Z",
                     *         "expires_at": null
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SingleMediaResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_MEDIA_NOT_FOUND"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    media_delete: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Media ID, from POST /media or GET /media. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted. */
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
            404: components["responses"]["Refused404_MEDIA_NOT_FOUND"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    media_link: {
        parameters: {
            query?: {
                /**
                 * @description `attachment`: a browser saves the file. `inline`: it shows an image, audio, video or PDF, also in a page of another origin;
                 *     other files stay attachments.
                 */
                disposition?: "attachment" | "inline";
            };
            header?: never;
            path: {
                /** @description Media ID, from POST /media or GET /media. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The link. */
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
                     *         "url": "https://herald.example/media/01936f70-4d5e-7a41-8b2c-6c7d8e9f0a1b/content?organization=01936f6c-1a2b-7c3d-8e4f-5a6b7c8d9e0f&expires=1795248900&key=1&signature=5Zb1yWmV0bQ3k8nJc7tX2aLr9fHd4eSg6iKpMoNqRwA",
                     *         "expires_at": "2026-11-21T08:15:00.000Z"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["MediaLinkResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_MEDIA_NOT_FOUND"];
            409: components["responses"]["Refused409_MEDIA_PENDING"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    members_list: {
        parameters: {
            query?: {
                /** @description Only what is older than this time, such as `2026-11-21T08:00:00.000Z`. */
                before?: string;
                /** @description Together with `before`: the last entry of the previous page. */
                before_id?: string;
                /** @description How many at the most. */
                limit?: number;
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
            /** @description One page. */
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
                     *           "id": "01936f75-3e4f-7d50-8162-7c8d9e0f1a2b",
                     *           "name": "Robin Wells"
                     *         }
                     *       ],
                     *       "pagination": {
                     *         "next_before": "2026-11-21T08:00:00.125Z",
                     *         "next_before_id": "01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["MembersResponse"];
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
    messages_list: {
        parameters: {
            query?: {
                /** @description Only what is older than this time, such as `2026-11-21T08:00:00.000Z`. */
                before?: string;
                /** @description Together with `before`: the last entry of the previous page. */
                before_id?: string;
                /** @description Your own id, as sent. */
                client_message_id?: string;
                /** @description Only messages of this number: an id from GET /connections. */
                connection_id?: string;
                /** @description Only messages of this conversation, in both directions. */
                conversation_id?: string;
                /** @description `outbound`: sent here; `inbound`: written by customers. */
                direction?: "outbound" | "inbound";
                /** @description Messages that failed for this reason, or whose outcome is unknown for it. */
                failure_category?: "invalid_recipient" | "recipient_unreachable" | "service_window_closed" | "template_unavailable" | "invalid_content" | "media_error" | "rate_limited" | "recipient_limit" | "opted_out" | "not_conversation_owner" | "account_restricted" | "sender_not_ready" | "authentication" | "platform_unavailable" | "expired" | "canceled" | "unknown";
                /** @description Messages from this number: a customer's, or one of yours. */
                from?: string;
                /** @description How many at the most. */
                limit?: number;
                /** @description Messages that send this file, refer to it, or came with it: an id from GET /media. */
                media_object_id?: string;
                /** @description The message that has this id at WhatsApp, or had it with an earlier attempt: `meta_message_id`. */
                meta_message_id?: string;
                /** @description Messages to and from the contact with this business-scoped user id, such as `DE.1795`. */
                recipient?: string;
                /** @description Messages that were made at this time or later, such as `2026-11-21T08:00:00.000Z`. */
                since?: string;
                /**
                 * @description `api`: sent by this API; `app`: by the business in the WhatsApp Business app; `customer`: received; `history`: of
                 *     before the number was connected.
                 */
                source?: "api" | "app" | "customer" | "history";
                /** @description `received` selects inbound messages. */
                status?: "queued" | "processing" | "sent" | "delivered" | "read" | "failed" | "outcome_unknown" | "received";
                /** @description Messages in one of these states, separated by commas, such as `failed,outcome_unknown`. Instead of `status`. */
                statuses?: string;
                /** @description Messages of this group, as sent. */
                tag?: string;
                /** @description Outbound messages to this number. */
                to?: string;
                /** @description Messages that were made before this time. */
                until?: string;
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
            /** @description One page. */
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
                     *           "id": "01936f6e-2b5c-7c2e-9d8a-3f1b2a4c5d6e",
                     *           "connection_id": "01936f6d-0a1b-7f00-8c11-5a6b7c8d9e0f",
                     *           "conversation_id": "01936f6d-9a1b-7f00-8c11-5a6b7c8d9e0f",
                     *           "direction": "outbound",
                     *           "source": "api",
                     *           "from": "15550100002",
                     *           "to": "15550100001",
                     *           "recipient": null,
                     *           "contact": {
                     *             "phone": "15550100001",
                     *             "user_id": null,
                     *             "name": "Ana Lima"
                     *           },
                     *           "type": "text",
                     *           "body": "Your table is ready.",
                     *           "content": {
                     *             "body": "Your table is ready."
                     *           },
                     *           "media_object_id": null,
                     *           "reply_to_message_id": null,
                     *           "status": "delivered",
                     *           "failure_category": null,
                     *           "pricing": {
                     *             "billable": true,
                     *             "category": "utility",
                     *             "type": "regular",
                     *             "subtype": null,
                     *             "model": "PMP"
                     *           },
                     *           "client_message_id": "order-4711",
                     *           "tag": "spring-sale",
                     *           "metadata": {
                     *             "customer": "c-17"
                     *           },
                     *           "meta_message_id": "wamid.HBgLMTU1NTAxMDAwMDEVAgARGBI5QTNDQTVCM0Q0Q0Q2RTY3RTcA",
                     *           "created_at": "2026-11-21T08:00:00.125Z",
                     *           "standby": false,
                     *           "scheduled_for": "2026-11-24T09:00:00.000Z",
                     *           "context": {
                     *             "quoted_platform_id": "wamid.HBgLMTU1NTAxMDAwMDEVAgARGBI5QTNDQTVCM0Q0Q0Q2RTY3RTcA"
                     *           },
                     *           "referral": {
                     *             "source_type": "ad",
                     *             "source_id": "120210",
                     *             "ctwa_clid": "ARAkLkA8"
                     *           },
                     *           "username": "ana.lima",
                     *           "group_id": "Y2FwaV9ncm91cDox",
                     *           "edits_message_id": "01936f6e-2b5c-7c2e-9d8a-3f1b2a4c5d6e",
                     *           "revokes_message_id": "01936f6e-2b5c-7c2e-9d8a-3f1b2a4c5d6e",
                     *           "edited_at": "2026-11-21T08:00:00.125Z",
                     *           "revoked_at": null,
                     *           "current": {
                     *             "body": "Is my table ready at eight?",
                     *             "content": {
                     *               "body": "Is my table ready at eight?"
                     *             }
                     *           }
                     *         }
                     *       ],
                     *       "pagination": {
                     *         "next_before": "2026-11-21T08:00:00.125Z",
                     *         "next_before_id": "01936f6e-2b5c-7c2e-9d8a-3f1b2a4c5d6e"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["JournalResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_CONNECTION_NOT_FOUND"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    messages_send: {
        parameters: {
            query?: never;
            header: {
                /** @description A UUID for each message that you mean to send; repeat it when you repeat the request. */
                "Idempotency-Key": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SendMessage"];
            };
        };
        responses: {
            /** @description Queued. */
            202: {
                headers: {
                    /** @description `true` where the key stood for this request already and nothing new was made. */
                    "Idempotency-Replayed"?: "true";
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
                     *         "id": "01936f6e-2b5c-7c2e-9d8a-3f1b2a4c5d6e",
                     *         "status": "queued"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["QueuedMessageResponse"];
                };
            };
            400: components["responses"]["Refused400_messages_send"];
            401: components["responses"]["Refused401"];
            402: components["responses"]["Refused402_SPEND_LIMIT_REACHED_SUBSCRIPTION_REQUIRED"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            409: components["responses"]["Refused409_CONNECTION_NOT_READY_IDEMPOTENCY_KEY_REUSED"];
            413: components["responses"]["Refused413_PAYLOAD_TOO_LARGE"];
            415: components["responses"]["Refused415_UNSUPPORTED_CONTENT_TYPE"];
            422: components["responses"]["Refused422_messages_send"];
            429: components["responses"]["Refused429_messages_send"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            502: components["responses"]["Refused502_PLATFORM_UNAVAILABLE"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
            504: components["responses"]["Refused504_PLATFORM_TIMEOUT"];
        };
    };
    messages_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Message ID, from POST /messages or GET /messages. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The message. */
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
                     *         "id": "01936f6e-2b5c-7c2e-9d8a-3f1b2a4c5d6e",
                     *         "connection_id": "01936f6d-0a1b-7f00-8c11-5a6b7c8d9e0f",
                     *         "conversation_id": "01936f6d-9a1b-7f00-8c11-5a6b7c8d9e0f",
                     *         "direction": "outbound",
                     *         "source": "api",
                     *         "from": "15550100002",
                     *         "to": "15550100001",
                     *         "recipient": null,
                     *         "contact": {
                     *           "phone": "15550100001",
                     *           "user_id": null,
                     *           "name": "Ana Lima"
                     *         },
                     *         "type": "text",
                     *         "body": "Your table is ready.",
                     *         "content": {
                     *           "body": "Your table is ready."
                     *         },
                     *         "media_object_id": null,
                     *         "reply_to_message_id": null,
                     *         "status": "delivered",
                     *         "failure_category": null,
                     *         "pricing": {
                     *           "billable": true,
                     *           "category": "utility",
                     *           "type": "regular",
                     *           "subtype": null,
                     *           "model": "PMP"
                     *         },
                     *         "client_message_id": "order-4711",
                     *         "tag": "spring-sale",
                     *         "metadata": {
                     *           "customer": "c-17"
                     *         },
                     *         "meta_message_id": "wamid.HBgLMTU1NTAxMDAwMDEVAgARGBI5QTNDQTVCM0Q0Q0Q2RTY3RTcA",
                     *         "created_at": "2026-11-21T08:00:00.125Z",
                     *         "standby": false,
                     *         "scheduled_for": "2026-11-24T09:00:00.000Z",
                     *         "context": {
                     *           "quoted_platform_id": "wamid.HBgLMTU1NTAxMDAwMDEVAgARGBI5QTNDQTVCM0Q0Q0Q2RTY3RTcA"
                     *         },
                     *         "referral": {
                     *           "source_type": "ad",
                     *           "source_id": "120210",
                     *           "ctwa_clid": "ARAkLkA8"
                     *         },
                     *         "username": "ana.lima",
                     *         "group_id": "Y2FwaV9ncm91cDox",
                     *         "edits_message_id": "01936f6e-2b5c-7c2e-9d8a-3f1b2a4c5d6e",
                     *         "revokes_message_id": "01936f6e-2b5c-7c2e-9d8a-3f1b2a4c5d6e",
                     *         "edited_at": "2026-11-21T08:00:00.125Z",
                     *         "revoked_at": null,
                     *         "current": {
                     *           "body": "Is my table ready at eight?",
                     *           "content": {
                     *             "body": "Is my table ready at eight?"
                     *           }
                     *         },
                     *         "error": {
                     *           "code": "131026",
                     *           "message": "Message undeliverable"
                     *         },
                     *         "attempt_count": 1,
                     *         "next_attempt_at": null,
                     *         "queued_at": "2026-11-21T08:00:00.125Z",
                     *         "processing_at": "2026-11-21T08:00:00.125Z",
                     *         "accepted_at": "2026-11-21T08:00:00.125Z",
                     *         "sent_at": "2026-11-21T08:00:01.000Z",
                     *         "delivered_at": "2026-11-21T08:00:02.000Z",
                     *         "read_at": null,
                     *         "failed_at": null,
                     *         "waiting": {
                     *           "reason": "number_pace",
                     *           "until": "2026-11-21T08:00:03.750Z",
                     *           "ahead": 290
                     *         },
                     *         "estimated_send_at": "2026-11-21T08:00:03.750Z",
                     *         "expires_at": "2026-11-22T08:00:00.125Z",
                     *         "attempts": [
                     *           {
                     *             "number": 1,
                     *             "status": "accepted",
                     *             "started_at": "2026-11-21T08:00:00.125Z",
                     *             "finished_at": "2026-11-21T08:00:00.125Z",
                     *             "http_status": 200,
                     *             "platform_code": null,
                     *             "platform_message": null,
                     *             "failure_category": null,
                     *             "meta_message_id": "wamid.HBgLMTU1NTAxMDAwMDEVAgARGBI5QTNDQTVCM0Q0Q0Q2RTY3RTcA",
                     *             "trace_id": null
                     *           }
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SingleMessageResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_MESSAGE_NOT_FOUND"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    messages_cancel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Message ID, from POST /messages or GET /messages. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Canceled: the message, or `id` and `status` for a key without `messages:read`. */
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
                     *         "id": "01936f6e-2b5c-7c2e-9d8a-3f1b2a4c5d6e",
                     *         "connection_id": "01936f6d-0a1b-7f00-8c11-5a6b7c8d9e0f",
                     *         "conversation_id": "01936f6d-9a1b-7f00-8c11-5a6b7c8d9e0f",
                     *         "direction": "outbound",
                     *         "source": "api",
                     *         "from": "15550100002",
                     *         "to": "15550100001",
                     *         "recipient": null,
                     *         "contact": {
                     *           "phone": "15550100001",
                     *           "user_id": null,
                     *           "name": "Ana Lima"
                     *         },
                     *         "type": "text",
                     *         "body": "Your table is ready.",
                     *         "content": {
                     *           "body": "Your table is ready."
                     *         },
                     *         "media_object_id": null,
                     *         "reply_to_message_id": null,
                     *         "status": "delivered",
                     *         "failure_category": null,
                     *         "pricing": {
                     *           "billable": true,
                     *           "category": "utility",
                     *           "type": "regular",
                     *           "subtype": null,
                     *           "model": "PMP"
                     *         },
                     *         "client_message_id": "order-4711",
                     *         "tag": "spring-sale",
                     *         "metadata": {
                     *           "customer": "c-17"
                     *         },
                     *         "meta_message_id": "wamid.HBgLMTU1NTAxMDAwMDEVAgARGBI5QTNDQTVCM0Q0Q0Q2RTY3RTcA",
                     *         "created_at": "2026-11-21T08:00:00.125Z",
                     *         "standby": false,
                     *         "scheduled_for": "2026-11-24T09:00:00.000Z",
                     *         "context": {
                     *           "quoted_platform_id": "wamid.HBgLMTU1NTAxMDAwMDEVAgARGBI5QTNDQTVCM0Q0Q0Q2RTY3RTcA"
                     *         },
                     *         "referral": {
                     *           "source_type": "ad",
                     *           "source_id": "120210",
                     *           "ctwa_clid": "ARAkLkA8"
                     *         },
                     *         "username": "ana.lima",
                     *         "group_id": "Y2FwaV9ncm91cDox",
                     *         "edits_message_id": "01936f6e-2b5c-7c2e-9d8a-3f1b2a4c5d6e",
                     *         "revokes_message_id": "01936f6e-2b5c-7c2e-9d8a-3f1b2a4c5d6e",
                     *         "edited_at": "2026-11-21T08:00:00.125Z",
                     *         "revoked_at": null,
                     *         "current": {
                     *           "body": "Is my table ready at eight?",
                     *           "content": {
                     *             "body": "Is my table ready at eight?"
                     *           }
                     *         },
                     *         "error": {
                     *           "code": "131026",
                     *           "message": "Message undeliverable"
                     *         },
                     *         "attempt_count": 1,
                     *         "next_attempt_at": null,
                     *         "queued_at": "2026-11-21T08:00:00.125Z",
                     *         "processing_at": "2026-11-21T08:00:00.125Z",
                     *         "accepted_at": "2026-11-21T08:00:00.125Z",
                     *         "sent_at": "2026-11-21T08:00:01.000Z",
                     *         "delivered_at": "2026-11-21T08:00:02.000Z",
                     *         "read_at": null,
                     *         "failed_at": null,
                     *         "waiting": {
                     *           "reason": "number_pace",
                     *           "until": "2026-11-21T08:00:03.750Z",
                     *           "ahead": 290
                     *         },
                     *         "estimated_send_at": "2026-11-21T08:00:03.750Z",
                     *         "expires_at": "2026-11-22T08:00:00.125Z",
                     *         "attempts": [
                     *           {
                     *             "number": 1,
                     *             "status": "accepted",
                     *             "started_at": "2026-11-21T08:00:00.125Z",
                     *             "finished_at": "2026-11-21T08:00:00.125Z",
                     *             "http_status": 200,
                     *             "platform_code": null,
                     *             "platform_message": null,
                     *             "failure_category": null,
                     *             "meta_message_id": "wamid.HBgLMTU1NTAxMDAwMDEVAgARGBI5QTNDQTVCM0Q0Q0Q2RTY3RTcA",
                     *             "trace_id": null
                     *           }
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SingleMessageResponse"] | components["schemas"]["CanceledMessageResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_MESSAGE_NOT_FOUND"];
            409: components["responses"]["Refused409_MESSAGE_NOT_CANCELABLE"];
            413: components["responses"]["Refused413_PAYLOAD_TOO_LARGE"];
            415: components["responses"]["Refused415_UNSUPPORTED_CONTENT_TYPE"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    messages_read: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Message ID, from POST /messages or GET /messages. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ReadMessageRequest"];
            };
        };
        responses: {
            /** @description WhatsApp took it. */
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
                     *         "id": "01936f6e-4d7e-7e4a-8f0c-5b3d4c6e7f80",
                     *         "read_at": "2026-11-21T08:00:05.125Z",
                     *         "typing_until": "2026-11-21T08:00:30.125Z"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ReadMessageResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST_PLATFORM_REJECTED"];
            401: components["responses"]["Refused401"];
            402: components["responses"]["Refused402_SUBSCRIPTION_REQUIRED"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_MESSAGE_NOT_FOUND"];
            409: components["responses"]["Refused409_CONNECTION_NOT_READY_MESSAGE_NOT_RECEIVED"];
            413: components["responses"]["Refused413_PAYLOAD_TOO_LARGE"];
            415: components["responses"]["Refused415_UNSUPPORTED_CONTENT_TYPE"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            502: components["responses"]["Refused502_PLATFORM_UNAVAILABLE"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
            504: components["responses"]["Refused504_PLATFORM_TIMEOUT"];
        };
    };
    messages_retry: {
        parameters: {
            query?: never;
            header?: {
                /** @description Optional: a repeat with the same key answers the message as it is and queues nothing. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Message ID, from POST /messages or GET /messages. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RetryMessageRequest"];
            };
        };
        responses: {
            /** @description Queued again. */
            202: {
                headers: {
                    /** @description `true` where the key stood for this request already and nothing new was made. */
                    "Idempotency-Replayed"?: "true";
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
                     *         "id": "01936f6e-2b5c-7c2e-9d8a-3f1b2a4c5d6e",
                     *         "connection_id": "01936f6d-0a1b-7f00-8c11-5a6b7c8d9e0f",
                     *         "conversation_id": "01936f6d-9a1b-7f00-8c11-5a6b7c8d9e0f",
                     *         "direction": "outbound",
                     *         "source": "api",
                     *         "from": "15550100002",
                     *         "to": "15550100001",
                     *         "recipient": null,
                     *         "contact": {
                     *           "phone": "15550100001",
                     *           "user_id": null,
                     *           "name": "Ana Lima"
                     *         },
                     *         "type": "text",
                     *         "body": "Your table is ready.",
                     *         "content": {
                     *           "body": "Your table is ready."
                     *         },
                     *         "media_object_id": null,
                     *         "reply_to_message_id": null,
                     *         "status": "delivered",
                     *         "failure_category": null,
                     *         "pricing": {
                     *           "billable": true,
                     *           "category": "utility",
                     *           "type": "regular",
                     *           "subtype": null,
                     *           "model": "PMP"
                     *         },
                     *         "client_message_id": "order-4711",
                     *         "tag": "spring-sale",
                     *         "metadata": {
                     *           "customer": "c-17"
                     *         },
                     *         "meta_message_id": "wamid.HBgLMTU1NTAxMDAwMDEVAgARGBI5QTNDQTVCM0Q0Q0Q2RTY3RTcA",
                     *         "created_at": "2026-11-21T08:00:00.125Z",
                     *         "standby": false,
                     *         "scheduled_for": "2026-11-24T09:00:00.000Z",
                     *         "context": {
                     *           "quoted_platform_id": "wamid.HBgLMTU1NTAxMDAwMDEVAgARGBI5QTNDQTVCM0Q0Q0Q2RTY3RTcA"
                     *         },
                     *         "referral": {
                     *           "source_type": "ad",
                     *           "source_id": "120210",
                     *           "ctwa_clid": "ARAkLkA8"
                     *         },
                     *         "username": "ana.lima",
                     *         "group_id": "Y2FwaV9ncm91cDox",
                     *         "edits_message_id": "01936f6e-2b5c-7c2e-9d8a-3f1b2a4c5d6e",
                     *         "revokes_message_id": "01936f6e-2b5c-7c2e-9d8a-3f1b2a4c5d6e",
                     *         "edited_at": "2026-11-21T08:00:00.125Z",
                     *         "revoked_at": null,
                     *         "current": {
                     *           "body": "Is my table ready at eight?",
                     *           "content": {
                     *             "body": "Is my table ready at eight?"
                     *           }
                     *         },
                     *         "error": {
                     *           "code": "131026",
                     *           "message": "Message undeliverable"
                     *         },
                     *         "attempt_count": 1,
                     *         "next_attempt_at": null,
                     *         "queued_at": "2026-11-21T08:00:00.125Z",
                     *         "processing_at": "2026-11-21T08:00:00.125Z",
                     *         "accepted_at": "2026-11-21T08:00:00.125Z",
                     *         "sent_at": "2026-11-21T08:00:01.000Z",
                     *         "delivered_at": "2026-11-21T08:00:02.000Z",
                     *         "read_at": null,
                     *         "failed_at": null,
                     *         "waiting": {
                     *           "reason": "number_pace",
                     *           "until": "2026-11-21T08:00:03.750Z",
                     *           "ahead": 290
                     *         },
                     *         "estimated_send_at": "2026-11-21T08:00:03.750Z",
                     *         "expires_at": "2026-11-22T08:00:00.125Z",
                     *         "attempts": [
                     *           {
                     *             "number": 1,
                     *             "status": "accepted",
                     *             "started_at": "2026-11-21T08:00:00.125Z",
                     *             "finished_at": "2026-11-21T08:00:00.125Z",
                     *             "http_status": 200,
                     *             "platform_code": null,
                     *             "platform_message": null,
                     *             "failure_category": null,
                     *             "meta_message_id": "wamid.HBgLMTU1NTAxMDAwMDEVAgARGBI5QTNDQTVCM0Q0Q0Q2RTY3RTcA",
                     *             "trace_id": null
                     *           }
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SingleMessageResponse"];
                };
            };
            400: components["responses"]["Refused400_messages_retry"];
            401: components["responses"]["Refused401"];
            402: components["responses"]["Refused402_SPEND_LIMIT_REACHED_SUBSCRIPTION_REQUIRED"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_MESSAGE_NOT_FOUND"];
            409: components["responses"]["Refused409_messages_retry"];
            413: components["responses"]["Refused413_PAYLOAD_TOO_LARGE"];
            415: components["responses"]["Refused415_UNSUPPORTED_CONTENT_TYPE"];
            429: components["responses"]["Refused429_RATE_LIMITED_WORKSPACE_LIMIT_REACHED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            502: components["responses"]["Refused502_PLATFORM_UNAVAILABLE"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
            504: components["responses"]["Refused504_PLATFORM_TIMEOUT"];
        };
    };
    messages_timeline: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Message ID, from POST /messages or GET /messages. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Its history, oldest first. */
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
                     *           "at": "2026-11-21T08:00:01.204Z",
                     *           "event": "attempt_rejected",
                     *           "status": "failed",
                     *           "attempt": 1,
                     *           "source": "whatsapp",
                     *           "by": "caller",
                     *           "api_key_id": "y4zZjPLnlOBt",
                     *           "person_id": "01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f",
                     *           "summary": "Attempt 1 failed: The recipient cannot be reached: the number is not on WhatsApp, you are blocked, or the app is too old. Use another channel. (code 131026)",
                     *           "platform_code": 131026,
                     *           "delivery_ids": [
                     *             "01936f6e-9d2b-7a10-8f00-4b5c6d7e8f90"
                     *           ]
                     *         }
                     *       ],
                     *       "explanation": {
                     *         "summary": "The recipient cannot be reached: the number is not on WhatsApp, you are blocked, or the app is too old. Use another channel.",
                     *         "responsible": "recipient",
                     *         "retry": {
                     *           "advised": false,
                     *           "not_before": null
                     *         }
                     *       },
                     *       "not_kept": []
                     *     }
                     */
                    "application/json": components["schemas"]["TimelineResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_MESSAGE_NOT_FOUND"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    messages_sendBatch: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description In the order in which they go to one recipient. */
                    messages: components["schemas"]["BatchMessage"][];
                    /**
                     * @description strict: one message that cannot be sent, and none is taken. permissive: the others are taken. Default: strict.
                     * @enum {string}
                     */
                    validation?: "strict" | "permissive";
                };
            };
        };
        responses: {
            /** @description What was taken is queued. */
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
                     *       "data": [
                     *         {
                     *           "index": 0,
                     *           "id": "01936f6e-2b5c-7c2e-9d8a-3f1b2a4c5d6e",
                     *           "status": "queued",
                     *           "replayed": false
                     *         }
                     *       ],
                     *       "errors": []
                     *     }
                     */
                    "application/json": components["schemas"]["SendBatchResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            402: components["responses"]["Refused402_SPEND_LIMIT_REACHED_SUBSCRIPTION_REQUIRED"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            413: components["responses"]["Refused413_PAYLOAD_TOO_LARGE"];
            415: components["responses"]["Refused415_UNSUPPORTED_CONTENT_TYPE"];
            422: components["responses"]["Refused422_BATCH_REFUSED_VALIDATION_FAILED"];
            429: components["responses"]["Refused429_messages_send"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            502: components["responses"]["Refused502_PLATFORM_UNAVAILABLE"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
            504: components["responses"]["Refused504_PLATFORM_TIMEOUT"];
        };
    };
    messages_checkBatch: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description In the order in which they go to one recipient. */
                    messages: components["schemas"]["BatchMessage"][];
                    /**
                     * @description strict: one message that cannot be sent, and none is taken. permissive: the others are taken. Default: strict.
                     * @enum {string}
                     */
                    validation?: "strict" | "permissive";
                };
            };
        };
        responses: {
            /** @description What would be taken, and what would not. */
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
                     *         "messages": 2,
                     *         "sendable": 1
                     *       },
                     *       "replayed": [
                     *         {
                     *           "index": 1,
                     *           "id": "01936f6e-2b5c-7c2e-9d8a-3f1b2a4c5d6e"
                     *         }
                     *       ],
                     *       "errors": [],
                     *       "warnings": [
                     *         {
                     *           "code": "TEMPLATE_QUALITY_LOW",
                     *           "message": "WhatsApp rates the quality of this template YELLOW; it pauses templates whose quality stays low, and then refuses them.",
                     *           "field": "template.name",
                     *           "index": 0
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["BatchCheckResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            413: components["responses"]["Refused413_PAYLOAD_TOO_LARGE"];
            415: components["responses"]["Refused415_UNSUPPORTED_CONTENT_TYPE"];
            422: components["responses"]["Refused422_VALIDATION_FAILED"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            502: components["responses"]["Refused502_PLATFORM_UNAVAILABLE"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
            504: components["responses"]["Refused504_PLATFORM_TIMEOUT"];
        };
    };
    messages_check: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SendMessage"];
            };
        };
        responses: {
            /** @description What would become of it. */
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
                     *         "sendable": true,
                     *         "problems": [],
                     *         "warnings": [
                     *           {
                     *             "code": "TEMPLATE_QUALITY_LOW",
                     *             "message": "WhatsApp rates the quality of this template YELLOW; it pauses templates whose quality stays low, and then refuses them.",
                     *             "field": "template.name"
                     *           }
                     *         ],
                     *         "rendered": {
                     *           "header": null,
                     *           "body": "Your table for two is ready.",
                     *           "footer": null,
                     *           "buttons": []
                     *         },
                     *         "conversation_id": "01936f6d-9a1b-7f00-8c11-5a6b7c8d9e0f",
                     *         "window": {
                     *           "open": true,
                     *           "closes_at": "2026-11-22T07:12:00.000Z"
                     *         },
                     *         "owner": "you",
                     *         "owner_role": null,
                     *         "endpoint": "messages",
                     *         "queue": {
                     *           "ahead": 0,
                     *           "estimated_send_at": "2026-11-21T08:00:00.125Z"
                     *         },
                     *         "limits": []
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["MessageCheckResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST_PLATFORM_REJECTED"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            413: components["responses"]["Refused413_PAYLOAD_TOO_LARGE"];
            415: components["responses"]["Refused415_UNSUPPORTED_CONTENT_TYPE"];
            422: components["responses"]["Refused422_VALIDATION_FAILED"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            502: components["responses"]["Refused502_PLATFORM_UNAVAILABLE"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
            504: components["responses"]["Refused504_PLATFORM_TIMEOUT"];
        };
    };
    optOuts_list: {
        parameters: {
            query?: {
                /** @description Only what is older than this time, such as `2026-11-21T08:00:00.000Z`. */
                before?: string;
                /** @description Together with `before`: the last entry of the previous page. */
                before_id?: string;
                /** @description Only those of this category. */
                category?: "marketing" | "all";
                /** @description How many at the most. */
                limit?: number;
                /** @description Only those of the person who has this business-scoped user id, such as `DE.1795`. */
                recipient?: string;
                /** @description Only what is of this time or later, by the time that the list is in the order of. */
                since?: string;
                /** @description Only what the workspace recorded (`own`), or what WhatsApp reported (`platform`). */
                source?: "own" | "platform";
                /** @description Only those of the person who has this number. */
                to?: string;
                /** @description Only what is of before this time. */
                until?: string;
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
            /** @description One page. */
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
                     *           "id": "01936f73-1c2d-7b3e-8f40-5a6b7c8d9e0f",
                     *           "connection_id": null,
                     *           "contact": {
                     *             "phone": "15550100001",
                     *             "user_id": null
                     *           },
                     *           "source": "own",
                     *           "category": "marketing",
                     *           "reason": "Asked on the phone",
                     *           "since": "2026-11-21T08:00:00.125Z"
                     *         }
                     *       ],
                     *       "pagination": {
                     *         "next_before": "2026-11-21T08:00:00.125Z",
                     *         "next_before_id": "01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["OptOutListResponse"];
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
    optOuts_put: {
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
                 *       "to": "15550100001",
                 *       "category": "marketing",
                 *       "reason": "Asked on the phone"
                 *     }
                 */
                "application/json": components["schemas"]["PutOptOutRequest"];
            };
        };
        responses: {
            /** @description The entry. */
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
                     *         "id": "01936f73-1c2d-7b3e-8f40-5a6b7c8d9e0f",
                     *         "connection_id": null,
                     *         "contact": {
                     *           "phone": "15550100001",
                     *           "user_id": null
                     *         },
                     *         "source": "own",
                     *         "category": "marketing",
                     *         "reason": "Asked on the phone",
                     *         "since": "2026-11-21T08:00:00.125Z"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SingleOptOutResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            413: components["responses"]["Refused413_PAYLOAD_TOO_LARGE"];
            415: components["responses"]["Refused415_UNSUPPORTED_CONTENT_TYPE"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    optOuts_remove: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Opt-out ID, from GET /opt-outs. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Removed. */
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
            404: components["responses"]["Refused404_OPT_OUT_NOT_FOUND"];
            409: components["responses"]["Refused409_OPT_OUT_NOT_YOURS"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    otp_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the challenge, from POST /otp/send. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The challenge. */
            200: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SingleOtpResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_OTP_PROJECT_REQUIRED_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_OTP_NOT_FOUND"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    otp_send: {
        parameters: {
            query?: never;
            header: {
                /** @description 8 to 128 printable ASCII characters, such as a UUID or `login 4711`; new for each code. */
                "Idempotency-Key": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "to": "+15550001234",
                 *       "channel": "whatsapp",
                 *       "ttl": 300
                 *     }
                 */
                "application/json": components["schemas"]["SendOtpRequest"];
            };
        };
        responses: {
            /** @description A repeat: the same challenge, without `test_code`. */
            200: {
                headers: {
                    /** @description `true`: the key stood for this request already and nothing new was made. */
                    "Idempotency-Replayed"?: "true";
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "X-HERALD-API-Version": components["headers"]["X-HERALD-API-Version"];
                    "X-Herald-Read-After": components["headers"]["X-Herald-Read-After"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SingleOtpResponse"];
                };
            };
            /** @description The code was taken. */
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
                    "application/json": components["schemas"]["SingleOtpResponse"];
                };
            };
            400: components["responses"]["Refused400_otp_send"];
            401: components["responses"]["Refused401"];
            402: components["responses"]["Refused402_OTP_PACKAGE_EXHAUSTED_OTP_PACKAGE_REQUIRED"];
            403: components["responses"]["Refused403_OTP_PROJECT_REQUIRED_SCOPE_REQUIRED"];
            409: components["responses"]["Refused409_IDEMPOTENCY_KEY_REUSED_OTP_SENDER_NOT_READY"];
            413: components["responses"]["Refused413_PAYLOAD_TOO_LARGE"];
            415: components["responses"]["Refused415_UNSUPPORTED_CONTENT_TYPE"];
            429: components["responses"]["Refused429_OTP_RESEND_TOO_SOON_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    otp_verify: {
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
                 *       "id": "019b76f0-9c1d-7a55-8f3e-0d4c2b1a6f7e",
                 *       "code": "042317"
                 *     }
                 */
                "application/json": components["schemas"]["VerifyOtpRequest"];
            };
        };
        responses: {
            /** @description The code was right; the challenge is `verified`. */
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
                    "application/json": components["schemas"]["SingleOtpResponse"];
                };
            };
            400: components["responses"]["Refused400_otp_verify"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_OTP_PROJECT_REQUIRED_SCOPE_REQUIRED"];
            413: components["responses"]["Refused413_PAYLOAD_TOO_LARGE"];
            415: components["responses"]["Refused415_UNSUPPORTED_CONTENT_TYPE"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    tags_list: {
        parameters: {
            query?: {
                /** @description Only what is older than this time, such as `2026-11-21T08:00:00.000Z`. */
                before?: string;
                /** @description Together with `before`: the last entry of the previous page. */
                before_id?: string;
                /** @description How many at the most. */
                limit?: number;
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
            /** @description One page. */
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
                     *           "tag": "spring-sale",
                     *           "status": "active",
                     *           "paused": false,
                     *           "start_at": null,
                     *           "messages_per_minute": null,
                     *           "messages": 5000,
                     *           "counts": {
                     *             "queued": 1800,
                     *             "delivered": 2400,
                     *             "read": 725,
                     *             "failed": 75
                     *           },
                     *           "scheduled": 0,
                     *           "failures": {
                     *             "invalid_recipient": 75
                     *           },
                     *           "created_at": "2026-11-21T08:00:00.125Z",
                     *           "first_accepted_at": "2026-11-21T08:00:00.125Z",
                     *           "last_activity_at": "2026-11-21T08:00:00.125Z",
                     *           "last_action": {
                     *             "action": "retry",
                     *             "started_at": "2026-11-21T08:00:00.125Z",
                     *             "ended_at": "2026-11-21T08:00:00.125Z",
                     *             "done": 60,
                     *             "skipped": {
                     *               "RECIPIENT_OPTED_OUT": 15
                     *             }
                     *           }
                     *         }
                     *       ],
                     *       "pagination": {
                     *         "next_before": "2026-11-21T08:00:00.125Z",
                     *         "next_before_id": null
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["TagListResponse"];
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
    tags_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The `tag` with which the messages were sent. */
                tag: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Where its messages stand. */
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
                     *         "tag": "spring-sale",
                     *         "status": "active",
                     *         "paused": false,
                     *         "start_at": null,
                     *         "messages_per_minute": null,
                     *         "messages": 5000,
                     *         "counts": {
                     *           "queued": 1800,
                     *           "delivered": 2400,
                     *           "read": 725,
                     *           "failed": 75
                     *         },
                     *         "scheduled": 0,
                     *         "failures": {
                     *           "invalid_recipient": 75
                     *         },
                     *         "created_at": "2026-11-21T08:00:00.125Z",
                     *         "first_accepted_at": "2026-11-21T08:00:00.125Z",
                     *         "last_activity_at": "2026-11-21T08:00:00.125Z",
                     *         "last_action": {
                     *           "action": "retry",
                     *           "started_at": "2026-11-21T08:00:00.125Z",
                     *           "ended_at": "2026-11-21T08:00:00.125Z",
                     *           "done": 60,
                     *           "skipped": {
                     *             "RECIPIENT_OPTED_OUT": 15
                     *           }
                     *         },
                     *         "estimated_end_at": "2026-11-21T08:01:02.500Z",
                     *         "complete": true
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SingleTagResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_TAG_NOT_FOUND"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    tags_put: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The `tag` with which messages are sent. */
                tag: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "paused": true,
                 *       "start_at": null,
                 *       "messages_per_minute": 600
                 *     }
                 */
                "application/json": components["schemas"]["PutTagRequest"];
            };
        };
        responses: {
            /** @description The tag as it is now. */
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
                     *         "tag": "spring-sale",
                     *         "status": "active",
                     *         "paused": false,
                     *         "start_at": null,
                     *         "messages_per_minute": null,
                     *         "messages": 5000,
                     *         "counts": {
                     *           "queued": 1800,
                     *           "delivered": 2400,
                     *           "read": 725,
                     *           "failed": 75
                     *         },
                     *         "scheduled": 0,
                     *         "failures": {
                     *           "invalid_recipient": 75
                     *         },
                     *         "created_at": "2026-11-21T08:00:00.125Z",
                     *         "first_accepted_at": "2026-11-21T08:00:00.125Z",
                     *         "last_activity_at": "2026-11-21T08:00:00.125Z",
                     *         "last_action": {
                     *           "action": "retry",
                     *           "started_at": "2026-11-21T08:00:00.125Z",
                     *           "ended_at": "2026-11-21T08:00:00.125Z",
                     *           "done": 60,
                     *           "skipped": {
                     *             "RECIPIENT_OPTED_OUT": 15
                     *           }
                     *         },
                     *         "estimated_end_at": "2026-11-21T08:01:02.500Z",
                     *         "complete": true
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SingleTagResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            409: components["responses"]["Refused409_TAG_LIMIT_REACHED_TAG_STARTED"];
            413: components["responses"]["Refused413_PAYLOAD_TOO_LARGE"];
            415: components["responses"]["Refused415_UNSUPPORTED_CONTENT_TYPE"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    tags_cancel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The `tag` with which the messages were sent. */
                tag: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Taken; GET /tags/{tag} shows how far it is. */
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
                     *         "tag": "spring-sale",
                     *         "action": "pause",
                     *         "status": "paused",
                     *         "messages": 1800
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["TagActionResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_TAG_NOT_FOUND"];
            413: components["responses"]["Refused413_PAYLOAD_TOO_LARGE"];
            415: components["responses"]["Refused415_UNSUPPORTED_CONTENT_TYPE"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    tags_pause: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The `tag` with which the messages were sent. */
                tag: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Taken; GET /tags/{tag} shows how far it is. */
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
                     *         "tag": "spring-sale",
                     *         "action": "pause",
                     *         "status": "paused",
                     *         "messages": 1800
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["TagActionResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_TAG_NOT_FOUND"];
            413: components["responses"]["Refused413_PAYLOAD_TOO_LARGE"];
            415: components["responses"]["Refused415_UNSUPPORTED_CONTENT_TYPE"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    tags_resume: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The `tag` with which the messages were sent. */
                tag: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Taken; GET /tags/{tag} shows how far it is. */
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
                     *         "tag": "spring-sale",
                     *         "action": "pause",
                     *         "status": "paused",
                     *         "messages": 1800
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["TagActionResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_TAG_NOT_FOUND"];
            413: components["responses"]["Refused413_PAYLOAD_TOO_LARGE"];
            415: components["responses"]["Refused415_UNSUPPORTED_CONTENT_TYPE"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    tags_retry: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The `tag` with which the messages were sent. */
                tag: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "category": "invalid_recipient"
                 *     }
                 */
                "application/json": components["schemas"]["RetryTagRequest"];
            };
        };
        responses: {
            /** @description Taken; GET /tags/{tag} shows how far it is. */
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
                     *         "tag": "spring-sale",
                     *         "action": "pause",
                     *         "status": "paused",
                     *         "messages": 1800
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["TagActionResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_TAG_NOT_FOUND"];
            413: components["responses"]["Refused413_PAYLOAD_TOO_LARGE"];
            415: components["responses"]["Refused415_UNSUPPORTED_CONTENT_TYPE"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    usage_messages: {
        parameters: {
            query?: {
                /** @description Only what WhatsApp charged, or left free, under this category; `marketing` has `marketing_lite` too. */
                category?: string;
                /** @description The same as `connection_id`, by its former name. */
                connection?: string;
                /** @description Only of this number: an id from GET /connections. */
                connection_id?: string;
                /** @description Only to and from numbers of this country: ISO 3166 alpha-2. */
                country?: string;
                /** @description Separated by commas: connection_id, type, template, category, country, source; `connection` is `connection_id`. */
                group_by?: string;
                /** @description One row for each of these; `hour` takes 31 days at the most, `day` 400, `month` 800. */
                interval?: "hour" | "day" | "month";
                /** @description The first moment that counts, rounded down to a quarter of an hour. Default: 30 days before `until`. */
                since?: string;
                /** @description Only from here: `api` is sent with the API, `app` in the WhatsApp Business app, `customer` was received. */
                source?: string;
                /** @description Only of the template with this name. */
                template?: string;
                /** @description Where days and months begin: an IANA name such as `Europe/Berlin`. */
                timezone?: string;
                /** @description Only of this type, such as `text` or `template`. */
                type?: string;
                /** @description The moment before which the time ends, rounded up to a quarter of an hour. Default: now. */
                until?: string;
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
            /** @description The figures. */
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
                     *           "start": "2026-11-21T00:00:00.000+01:00",
                     *           "connection_id": "01936f6d-0a1b-7f00-8c11-5a6b7c8d9e0f",
                     *           "connection": "01936f6d-0a1b-7f00-8c11-5a6b7c8d9e0f",
                     *           "type": "template",
                     *           "template": "order_shipped",
                     *           "category": "marketing",
                     *           "country": "DE",
                     *           "source": "api"
                     *         }
                     *       ],
                     *       "totals": {
                     *         "submitted": 1200,
                     *         "accepted": 1190,
                     *         "sent": 1188,
                     *         "delivered": 1151,
                     *         "read": 804,
                     *         "failed": 9,
                     *         "outcome_unknown": 0,
                     *         "received": 310,
                     *         "failures": {
                     *           "recipient_unreachable": 9
                     *         },
                     *         "billable": {
                     *           "marketing": 110
                     *         },
                     *         "free": {
                     *           "free_customer_service": 1041
                     *         },
                     *         "delivery_ms": {
                     *           "p50": 1240,
                     *           "p95": 4800
                     *         },
                     *         "cost": {
                     *           "currency": "EUR",
                     *           "amount": "12.4410"
                     *         },
                     *         "cost_of_priced": {
                     *           "currency": "EUR",
                     *           "amount": "12.4410"
                     *         },
                     *         "unpriced": {}
                     *       },
                     *       "as_of": "2026-11-21T00:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["UsageResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_CONNECTION_NOT_FOUND"];
            422: components["responses"]["Refused422_USAGE_TOO_LARGE"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    usage_codes: {
        parameters: {
            query?: {
                /** @description One row for each of these; `hour` takes 31 days at the most, `day` 400, `month` 800. */
                interval?: "hour" | "day" | "month";
                /** @description The first moment that counts, rounded down to a quarter of an hour. Default: 30 days before `until`. */
                since?: string;
                /** @description Where days and months begin: an IANA name such as `Europe/Berlin`. */
                timezone?: string;
                /** @description The moment before which the time ends, rounded up to a quarter of an hour. Default: now. */
                until?: string;
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
            /** @description The figures. */
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
                     *           "requested": 420,
                     *           "sent": 418,
                     *           "delivered": 411,
                     *           "verified": 377,
                     *           "expired": 41,
                     *           "failed": 2,
                     *           "start": "2026-11-21T00:00:00.000Z",
                     *           "country": "DE"
                     *         }
                     *       ],
                     *       "totals": {
                     *         "requested": 420,
                     *         "sent": 418,
                     *         "delivered": 411,
                     *         "verified": 377,
                     *         "expired": 41,
                     *         "failed": 2
                     *       },
                     *       "as_of": "2026-11-21T00:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["CodeUsageResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            422: components["responses"]["Refused422_USAGE_TOO_LARGE"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    webhook_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The webhook. */
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
                     *         "url": "https://shop.example.com/whatsapp/events",
                     *         "events": [
                     *           "message.received",
                     *           "message.status.updated",
                     *           "message.standby.received",
                     *           "message.sent_elsewhere",
                     *           "conversation.control.updated",
                     *           "conversation.updated",
                     *           "template.status.updated",
                     *           "template.category.updated",
                     *           "media.ready",
                     *           "media.failed",
                     *           "connection.updated",
                     *           "contact.opt_out.updated",
                     *           "workspace.limit.reached",
                     *           "payment.updated",
                     *           "call.missed",
                     *           "call.ended",
                     *           "platform.error",
                     *           "destination.events_lost"
                     *         ],
                     *         "connection_ids": [
                     *           "01936f6d-0a1b-7f00-8c11-5a6b7c8d9e0f"
                     *         ],
                     *         "header_names": [
                     *           "X-Environment"
                     *         ],
                     *         "active": true,
                     *         "disabled_reason": null,
                     *         "failing_since": null,
                     *         "secret_hint": "whsec_...r9A=",
                     *         "previous_secret_expires_at": null,
                     *         "created_at": "2026-11-21T07:30:00.000Z",
                     *         "updated_at": "2026-11-21T07:30:00.000Z",
                     *         "recent_deliveries": [
                     *           {
                     *             "id": "01936f70-4d2e-7b10-8f3a-6c7d8e9f0a1b",
                     *             "event_id": "01936f70-1c3d-7a55-9e21-0b1c2d3e4f5a",
                     *             "event_type": "message.status.updated",
                     *             "attempt": 1,
                     *             "status": "failed",
                     *             "http_status": 503,
                     *             "error": "http_503",
                     *             "duration_ms": 184,
                     *             "created_at": "2026-11-21T08:00:01.250Z",
                     *             "next_attempt_at": "2026-11-21T08:00:06.420Z"
                     *           }
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_WEBHOOK_NOT_FOUND"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    webhook_put: {
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
                 *       "url": "https://shop.example.com/whatsapp/events",
                 *       "events": [
                 *         "message.received",
                 *         "message.status.updated",
                 *         "message.standby.received",
                 *         "message.sent_elsewhere",
                 *         "conversation.control.updated",
                 *         "conversation.updated",
                 *         "template.status.updated",
                 *         "template.category.updated",
                 *         "media.ready",
                 *         "media.failed",
                 *         "connection.updated",
                 *         "contact.opt_out.updated",
                 *         "workspace.limit.reached",
                 *         "payment.updated",
                 *         "call.missed",
                 *         "call.ended",
                 *         "platform.error",
                 *         "destination.events_lost"
                 *       ],
                 *       "connection_ids": [
                 *         "01936f6d-0a1b-7f00-8c11-5a6b7c8d9e0f"
                 *       ],
                 *       "headers": {
                 *         "X-Environment": "production"
                 *       },
                 *       "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=",
                 *       "active": true
                 *     }
                 */
                "application/json": components["schemas"]["ConfigureWebhookRequest"];
            };
        };
        responses: {
            /** @description The webhook, with `secret` where it is new. */
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
                     *         "url": "https://shop.example.com/whatsapp/events",
                     *         "events": [
                     *           "message.received",
                     *           "message.status.updated",
                     *           "message.standby.received",
                     *           "message.sent_elsewhere",
                     *           "conversation.control.updated",
                     *           "conversation.updated",
                     *           "template.status.updated",
                     *           "template.category.updated",
                     *           "media.ready",
                     *           "media.failed",
                     *           "connection.updated",
                     *           "contact.opt_out.updated",
                     *           "workspace.limit.reached",
                     *           "payment.updated",
                     *           "call.missed",
                     *           "call.ended",
                     *           "platform.error",
                     *           "destination.events_lost"
                     *         ],
                     *         "connection_ids": [
                     *           "01936f6d-0a1b-7f00-8c11-5a6b7c8d9e0f"
                     *         ],
                     *         "header_names": [
                     *           "X-Environment"
                     *         ],
                     *         "active": true,
                     *         "disabled_reason": null,
                     *         "failing_since": null,
                     *         "secret_hint": "whsec_...r9A=",
                     *         "previous_secret_expires_at": null,
                     *         "created_at": "2026-11-21T07:30:00.000Z",
                     *         "updated_at": "2026-11-21T07:30:00.000Z",
                     *         "recent_deliveries": [
                     *           {
                     *             "id": "01936f70-4d2e-7b10-8f3a-6c7d8e9f0a1b",
                     *             "event_id": "01936f70-1c3d-7a55-9e21-0b1c2d3e4f5a",
                     *             "event_type": "message.status.updated",
                     *             "attempt": 1,
                     *             "status": "failed",
                     *             "http_status": 503,
                     *             "error": "http_503",
                     *             "duration_ms": 184,
                     *             "created_at": "2026-11-21T08:00:01.250Z",
                     *             "next_attempt_at": "2026-11-21T08:00:06.420Z"
                     *           }
                     *         ],
                     *         "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookWithSecretResponse"];
                };
            };
            400: components["responses"]["Refused400_webhook_put"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_WEBHOOK_CONNECTION_NOT_FOUND"];
            413: components["responses"]["Refused413_PAYLOAD_TOO_LARGE"];
            415: components["responses"]["Refused415_UNSUPPORTED_CONTENT_TYPE"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    webhook_remove: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted. */
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
            404: components["responses"]["Refused404_WEBHOOK_NOT_FOUND"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    webhook_deliveries: {
        parameters: {
            query?: {
                /** @description Only what is older than this time, such as `2026-11-21T08:00:00.000Z`. */
                before?: string;
                /** @description Together with `before`: the last entry of the previous page. */
                before_id?: string;
                /** @description Only attempts of this event: the `webhook-id` that your receiver got. */
                event_id?: string;
                /** @description Only attempts for this kind of event. */
                event_type?: "message.received" | "message.status.updated" | "message.standby.received" | "message.sent_elsewhere" | "conversation.control.updated" | "conversation.updated" | "template.status.updated" | "template.category.updated" | "media.ready" | "media.failed" | "connection.updated" | "contact.opt_out.updated" | "workspace.limit.reached" | "payment.updated" | "call.missed" | "call.ended" | "platform.error" | "destination.events_lost" | "webhook.test";
                /** @description How many at the most. */
                limit?: number;
                /** @description Only what is of this time or later, by the time that the list is in the order of. */
                since?: string;
                /** @description Only attempts that ended so. */
                status?: "succeeded" | "failed";
                /** @description Only what is of before this time. */
                until?: string;
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
            /** @description One page. */
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
                     *           "id": "01936f70-4d2e-7b10-8f3a-6c7d8e9f0a1b",
                     *           "event_id": "01936f70-1c3d-7a55-9e21-0b1c2d3e4f5a",
                     *           "event_type": "message.status.updated",
                     *           "attempt": 1,
                     *           "status": "failed",
                     *           "http_status": 503,
                     *           "error": "http_503",
                     *           "duration_ms": 184,
                     *           "created_at": "2026-11-21T08:00:01.250Z",
                     *           "next_attempt_at": "2026-11-21T08:00:06.420Z"
                     *         }
                     *       ],
                     *       "pagination": {
                     *         "next_before": "2026-11-21T08:00:00.125Z",
                     *         "next_before_id": "01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["DeliveriesResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_WEBHOOK_NOT_FOUND"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    webhook_delivery: {
        parameters: {
            query?: never;
            header?: {
                /** @description Of the answer to your last write: the read finds what was written up to then, also where it may be late. */
                "X-Herald-Read-After"?: string;
            };
            path: {
                /** @description Id of a delivery attempt, from GET /webhook/deliveries. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The attempt. */
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
                     *       "data": {
                     *         "id": "01936f70-4d2e-7b10-8f3a-6c7d8e9f0a1b",
                     *         "event_id": "01936f70-1c3d-7a55-9e21-0b1c2d3e4f5a",
                     *         "event_type": "message.status.updated",
                     *         "attempt": 1,
                     *         "status": "failed",
                     *         "http_status": 503,
                     *         "error": "http_503",
                     *         "duration_ms": 184,
                     *         "created_at": "2026-11-21T08:00:01.250Z",
                     *         "next_attempt_at": "2026-11-21T08:00:06.420Z",
                     *         "event": {
                     *           "id": "01936f70-1c3d-7a55-9e21-0b1c2d3e4f5a",
                     *           "type": "message.status.updated",
                     *           "created_at": "2026-11-21T08:00:00.125Z",
                     *           "organization_id": "01936f6c-7d3e-7a44-8b21-9c8d7e6f5a4b",
                     *           "cursor": "AX2Gw5cKHd2jAAAAAAAAA-gBk29wHD16VZ4hCxwtPk9a",
                     *           "data": {
                     *             "message_id": "01936f6e-2b5c-7c2e-9d8a-3f1b2a4c5d6e",
                     *             "client_message_id": "order-4711",
                     *             "connection_id": "01936f6d-0a1b-7f00-8c11-5a6b7c8d9e0f",
                     *             "conversation_id": "01936f6d-9a1b-7f00-8c11-5a6b7c8d9e0f",
                     *             "type": "text",
                     *             "tag": "spring-sale",
                     *             "metadata": {
                     *               "customer": "c-17"
                     *             },
                     *             "to": "15550100009",
                     *             "recipient": null,
                     *             "status": "delivered",
                     *             "previous_status": "sent",
                     *             "occurred_at": "2026-11-21T08:00:02.000Z",
                     *             "attempt": 1,
                     *             "failure_category": null,
                     *             "error": null,
                     *             "pricing": {
                     *               "billable": true,
                     *               "category": "utility",
                     *               "type": "regular",
                     *               "subtype": null,
                     *               "model": "PMP"
                     *             },
                     *             "sequence": 3
                     *           }
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SingleDeliveryResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_WEBHOOK_DELIVERY_NOT_FOUND"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    webhook_replay: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a delivery attempt, from GET /webhook/deliveries. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Queued. */
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
                     *         "event_id": "01936f70-1c3d-7a55-9e21-0b1c2d3e4f5a",
                     *         "event_type": "webhook.test",
                     *         "status": "queued",
                     *         "created_at": "2026-11-21T08:00:01.250Z"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["QueuedEventResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_WEBHOOK_DELIVERY_NOT_FOUND"];
            413: components["responses"]["Refused413_PAYLOAD_TOO_LARGE"];
            415: components["responses"]["Refused415_UNSUPPORTED_CONTENT_TYPE"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    replays_start: {
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
                 *       "since": "2026-11-20T08:00:00.000Z",
                 *       "until": "2026-11-20T10:30:00.000Z",
                 *       "types": [
                 *         "message.received"
                 *       ],
                 *       "status": "failed"
                 *     }
                 */
                "application/json": components["schemas"]["StartReplayRequest"];
            };
        };
        responses: {
            /** @description Begun; `done` at once where there is nothing to do. */
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
                     *         "id": "01936f72-6f70-7c63-8d4e-8e9f0a1b2c3d",
                     *         "status": "running",
                     *         "total": 4711,
                     *         "done": 1200,
                     *         "created_at": "2026-11-20T10:32:02.125Z",
                     *         "finished_at": null
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ReplayResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_WEBHOOK_NOT_FOUND"];
            409: components["responses"]["Refused409_WEBHOOK_REPLAY_RUNNING"];
            413: components["responses"]["Refused413_PAYLOAD_TOO_LARGE"];
            415: components["responses"]["Refused415_UNSUPPORTED_CONTENT_TYPE"];
            422: components["responses"]["Refused422_WEBHOOK_REPLAY_TOO_LARGE"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    replays_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a replay, from POST /webhook/replay. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The replay. */
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
                     *         "id": "01936f72-6f70-7c63-8d4e-8e9f0a1b2c3d",
                     *         "status": "running",
                     *         "total": 4711,
                     *         "done": 1200,
                     *         "created_at": "2026-11-20T10:32:02.125Z",
                     *         "finished_at": null
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ReplayResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_WEBHOOK_REPLAY_NOT_FOUND"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    webhook_rotateSecret: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The webhook with its new `secret`. */
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
                     *         "url": "https://shop.example.com/whatsapp/events",
                     *         "events": [
                     *           "message.received",
                     *           "message.status.updated",
                     *           "message.standby.received",
                     *           "message.sent_elsewhere",
                     *           "conversation.control.updated",
                     *           "conversation.updated",
                     *           "template.status.updated",
                     *           "template.category.updated",
                     *           "media.ready",
                     *           "media.failed",
                     *           "connection.updated",
                     *           "contact.opt_out.updated",
                     *           "workspace.limit.reached",
                     *           "payment.updated",
                     *           "call.missed",
                     *           "call.ended",
                     *           "platform.error",
                     *           "destination.events_lost"
                     *         ],
                     *         "connection_ids": [
                     *           "01936f6d-0a1b-7f00-8c11-5a6b7c8d9e0f"
                     *         ],
                     *         "header_names": [
                     *           "X-Environment"
                     *         ],
                     *         "active": true,
                     *         "disabled_reason": null,
                     *         "failing_since": null,
                     *         "secret_hint": "whsec_...r9A=",
                     *         "previous_secret_expires_at": null,
                     *         "created_at": "2026-11-21T07:30:00.000Z",
                     *         "updated_at": "2026-11-21T07:30:00.000Z",
                     *         "recent_deliveries": [
                     *           {
                     *             "id": "01936f70-4d2e-7b10-8f3a-6c7d8e9f0a1b",
                     *             "event_id": "01936f70-1c3d-7a55-9e21-0b1c2d3e4f5a",
                     *             "event_type": "message.status.updated",
                     *             "attempt": 1,
                     *             "status": "failed",
                     *             "http_status": 503,
                     *             "error": "http_503",
                     *             "duration_ms": 184,
                     *             "created_at": "2026-11-21T08:00:01.250Z",
                     *             "next_attempt_at": "2026-11-21T08:00:06.420Z"
                     *           }
                     *         ],
                     *         "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookWithSecretResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_WEBHOOK_NOT_FOUND"];
            413: components["responses"]["Refused413_PAYLOAD_TOO_LARGE"];
            415: components["responses"]["Refused415_UNSUPPORTED_CONTENT_TYPE"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    webhook_test: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "type": "webhook.test"
                 *     }
                 */
                "application/json": components["schemas"]["TestWebhookRequest"];
            };
        };
        responses: {
            /** @description Queued. */
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
                     *         "event_id": "01936f70-1c3d-7a55-9e21-0b1c2d3e4f5a",
                     *         "event_type": "webhook.test",
                     *         "status": "queued",
                     *         "created_at": "2026-11-21T08:00:01.250Z"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["QueuedEventResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_WEBHOOK_NOT_FOUND"];
            413: components["responses"]["Refused413_PAYLOAD_TOO_LARGE"];
            415: components["responses"]["Refused415_UNSUPPORTED_CONTENT_TYPE"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    webhook_verify: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What the receiver did. */
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
                     *         "passed": false,
                     *         "complete": true,
                     *         "duration_ms": 840,
                     *         "results": [
                     *           {
                     *             "check": "wrong_secret",
                     *             "event_type": "webhook.test",
                     *             "title": "Signed with another secret",
                     *             "expected": "refusal",
                     *             "outcome": "failed",
                     *             "http_status": 200,
                     *             "error": null,
                     *             "duration_ms": 12,
                     *             "problem": "It was answered 200, as if Herald had sent it.",
                     *             "fix": "Verify the signature of each delivery with the secret of the webhook, and answer 401 where it is not right."
                     *           }
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ConformanceResponse"];
                };
            };
            400: components["responses"]["Refused400_INVALID_REQUEST"];
            401: components["responses"]["Refused401"];
            403: components["responses"]["Refused403_SCOPE_REQUIRED"];
            404: components["responses"]["Refused404_WEBHOOK_NOT_FOUND"];
            413: components["responses"]["Refused413_PAYLOAD_TOO_LARGE"];
            415: components["responses"]["Refused415_UNSUPPORTED_CONTENT_TYPE"];
            429: components["responses"]["Refused429_RATE_LIMITED"];
            431: components["responses"]["Refused431_INVALID_REQUEST"];
            500: components["responses"]["Refused500_INTERNAL_ERROR"];
            503: components["responses"]["Refused503_SERVICE_UNAVAILABLE"];
        };
    };
    on_call_ended: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description The id of the event, the same for all its attempts.
                 * @example 01936f70-1c3d-7a55-9e21-0b1c2d3e4f5a
                 */
                "webhook-id": components["parameters"]["webhook-id"];
                /**
                 * @description `v1,` and the base64 HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<body>` under the secret; during 24 hours after a rotation several, separated by blanks. Verify every delivery from its raw body, with a library of standardwebhooks.com and the secret of the webhook, and refuse timestamps more than five minutes off.
                 * @example v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=
                 */
                "webhook-signature": components["parameters"]["webhook-signature"];
                /**
                 * @description When this attempt was made, in seconds since 1970.
                 * @example 1795248001
                 */
                "webhook-timestamp": components["parameters"]["webhook-timestamp"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CallEndedEvent"];
            };
        };
        responses: {
            "2XX": components["responses"]["EventTaken"];
            410: components["responses"]["EventsUnwanted"];
            default: components["responses"]["EventRefused"];
        };
    };
    on_call_missed: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description The id of the event, the same for all its attempts.
                 * @example 01936f70-1c3d-7a55-9e21-0b1c2d3e4f5a
                 */
                "webhook-id": components["parameters"]["webhook-id"];
                /**
                 * @description `v1,` and the base64 HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<body>` under the secret; during 24 hours after a rotation several, separated by blanks. Verify every delivery from its raw body, with a library of standardwebhooks.com and the secret of the webhook, and refuse timestamps more than five minutes off.
                 * @example v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=
                 */
                "webhook-signature": components["parameters"]["webhook-signature"];
                /**
                 * @description When this attempt was made, in seconds since 1970.
                 * @example 1795248001
                 */
                "webhook-timestamp": components["parameters"]["webhook-timestamp"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CallMissedEvent"];
            };
        };
        responses: {
            "2XX": components["responses"]["EventTaken"];
            410: components["responses"]["EventsUnwanted"];
            default: components["responses"]["EventRefused"];
        };
    };
    on_connection_updated: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description The id of the event, the same for all its attempts.
                 * @example 01936f70-1c3d-7a55-9e21-0b1c2d3e4f5a
                 */
                "webhook-id": components["parameters"]["webhook-id"];
                /**
                 * @description `v1,` and the base64 HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<body>` under the secret; during 24 hours after a rotation several, separated by blanks. Verify every delivery from its raw body, with a library of standardwebhooks.com and the secret of the webhook, and refuse timestamps more than five minutes off.
                 * @example v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=
                 */
                "webhook-signature": components["parameters"]["webhook-signature"];
                /**
                 * @description When this attempt was made, in seconds since 1970.
                 * @example 1795248001
                 */
                "webhook-timestamp": components["parameters"]["webhook-timestamp"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ConnectionUpdatedEvent"];
            };
        };
        responses: {
            "2XX": components["responses"]["EventTaken"];
            410: components["responses"]["EventsUnwanted"];
            default: components["responses"]["EventRefused"];
        };
    };
    on_contact_opt_out_updated: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description The id of the event, the same for all its attempts.
                 * @example 01936f70-1c3d-7a55-9e21-0b1c2d3e4f5a
                 */
                "webhook-id": components["parameters"]["webhook-id"];
                /**
                 * @description `v1,` and the base64 HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<body>` under the secret; during 24 hours after a rotation several, separated by blanks. Verify every delivery from its raw body, with a library of standardwebhooks.com and the secret of the webhook, and refuse timestamps more than five minutes off.
                 * @example v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=
                 */
                "webhook-signature": components["parameters"]["webhook-signature"];
                /**
                 * @description When this attempt was made, in seconds since 1970.
                 * @example 1795248001
                 */
                "webhook-timestamp": components["parameters"]["webhook-timestamp"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ContactOptOutUpdatedEvent"];
            };
        };
        responses: {
            "2XX": components["responses"]["EventTaken"];
            410: components["responses"]["EventsUnwanted"];
            default: components["responses"]["EventRefused"];
        };
    };
    on_conversation_control_updated: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description The id of the event, the same for all its attempts.
                 * @example 01936f70-1c3d-7a55-9e21-0b1c2d3e4f5a
                 */
                "webhook-id": components["parameters"]["webhook-id"];
                /**
                 * @description `v1,` and the base64 HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<body>` under the secret; during 24 hours after a rotation several, separated by blanks. Verify every delivery from its raw body, with a library of standardwebhooks.com and the secret of the webhook, and refuse timestamps more than five minutes off.
                 * @example v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=
                 */
                "webhook-signature": components["parameters"]["webhook-signature"];
                /**
                 * @description When this attempt was made, in seconds since 1970.
                 * @example 1795248001
                 */
                "webhook-timestamp": components["parameters"]["webhook-timestamp"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ConversationControlUpdatedEvent"];
            };
        };
        responses: {
            "2XX": components["responses"]["EventTaken"];
            410: components["responses"]["EventsUnwanted"];
            default: components["responses"]["EventRefused"];
        };
    };
    on_conversation_updated: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description The id of the event, the same for all its attempts.
                 * @example 01936f70-1c3d-7a55-9e21-0b1c2d3e4f5a
                 */
                "webhook-id": components["parameters"]["webhook-id"];
                /**
                 * @description `v1,` and the base64 HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<body>` under the secret; during 24 hours after a rotation several, separated by blanks. Verify every delivery from its raw body, with a library of standardwebhooks.com and the secret of the webhook, and refuse timestamps more than five minutes off.
                 * @example v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=
                 */
                "webhook-signature": components["parameters"]["webhook-signature"];
                /**
                 * @description When this attempt was made, in seconds since 1970.
                 * @example 1795248001
                 */
                "webhook-timestamp": components["parameters"]["webhook-timestamp"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ConversationUpdatedEvent"];
            };
        };
        responses: {
            "2XX": components["responses"]["EventTaken"];
            410: components["responses"]["EventsUnwanted"];
            default: components["responses"]["EventRefused"];
        };
    };
    on_destination_events_lost: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description The id of the event, the same for all its attempts.
                 * @example 01936f70-1c3d-7a55-9e21-0b1c2d3e4f5a
                 */
                "webhook-id": components["parameters"]["webhook-id"];
                /**
                 * @description `v1,` and the base64 HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<body>` under the secret; during 24 hours after a rotation several, separated by blanks. Verify every delivery from its raw body, with a library of standardwebhooks.com and the secret of the webhook, and refuse timestamps more than five minutes off.
                 * @example v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=
                 */
                "webhook-signature": components["parameters"]["webhook-signature"];
                /**
                 * @description When this attempt was made, in seconds since 1970.
                 * @example 1795248001
                 */
                "webhook-timestamp": components["parameters"]["webhook-timestamp"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DestinationEventsLostEvent"];
            };
        };
        responses: {
            "2XX": components["responses"]["EventTaken"];
            410: components["responses"]["EventsUnwanted"];
            default: components["responses"]["EventRefused"];
        };
    };
    on_media_failed: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description The id of the event, the same for all its attempts.
                 * @example 01936f70-1c3d-7a55-9e21-0b1c2d3e4f5a
                 */
                "webhook-id": components["parameters"]["webhook-id"];
                /**
                 * @description `v1,` and the base64 HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<body>` under the secret; during 24 hours after a rotation several, separated by blanks. Verify every delivery from its raw body, with a library of standardwebhooks.com and the secret of the webhook, and refuse timestamps more than five minutes off.
                 * @example v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=
                 */
                "webhook-signature": components["parameters"]["webhook-signature"];
                /**
                 * @description When this attempt was made, in seconds since 1970.
                 * @example 1795248001
                 */
                "webhook-timestamp": components["parameters"]["webhook-timestamp"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MediaFailedEvent"];
            };
        };
        responses: {
            "2XX": components["responses"]["EventTaken"];
            410: components["responses"]["EventsUnwanted"];
            default: components["responses"]["EventRefused"];
        };
    };
    on_media_ready: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description The id of the event, the same for all its attempts.
                 * @example 01936f70-1c3d-7a55-9e21-0b1c2d3e4f5a
                 */
                "webhook-id": components["parameters"]["webhook-id"];
                /**
                 * @description `v1,` and the base64 HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<body>` under the secret; during 24 hours after a rotation several, separated by blanks. Verify every delivery from its raw body, with a library of standardwebhooks.com and the secret of the webhook, and refuse timestamps more than five minutes off.
                 * @example v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=
                 */
                "webhook-signature": components["parameters"]["webhook-signature"];
                /**
                 * @description When this attempt was made, in seconds since 1970.
                 * @example 1795248001
                 */
                "webhook-timestamp": components["parameters"]["webhook-timestamp"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MediaReadyEvent"];
            };
        };
        responses: {
            "2XX": components["responses"]["EventTaken"];
            410: components["responses"]["EventsUnwanted"];
            default: components["responses"]["EventRefused"];
        };
    };
    on_message_received: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description The id of the event, the same for all its attempts.
                 * @example 01936f70-1c3d-7a55-9e21-0b1c2d3e4f5a
                 */
                "webhook-id": components["parameters"]["webhook-id"];
                /**
                 * @description `v1,` and the base64 HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<body>` under the secret; during 24 hours after a rotation several, separated by blanks. Verify every delivery from its raw body, with a library of standardwebhooks.com and the secret of the webhook, and refuse timestamps more than five minutes off.
                 * @example v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=
                 */
                "webhook-signature": components["parameters"]["webhook-signature"];
                /**
                 * @description When this attempt was made, in seconds since 1970.
                 * @example 1795248001
                 */
                "webhook-timestamp": components["parameters"]["webhook-timestamp"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MessageReceivedEvent"];
            };
        };
        responses: {
            "2XX": components["responses"]["EventTaken"];
            410: components["responses"]["EventsUnwanted"];
            default: components["responses"]["EventRefused"];
        };
    };
    on_message_sent_elsewhere: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description The id of the event, the same for all its attempts.
                 * @example 01936f70-1c3d-7a55-9e21-0b1c2d3e4f5a
                 */
                "webhook-id": components["parameters"]["webhook-id"];
                /**
                 * @description `v1,` and the base64 HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<body>` under the secret; during 24 hours after a rotation several, separated by blanks. Verify every delivery from its raw body, with a library of standardwebhooks.com and the secret of the webhook, and refuse timestamps more than five minutes off.
                 * @example v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=
                 */
                "webhook-signature": components["parameters"]["webhook-signature"];
                /**
                 * @description When this attempt was made, in seconds since 1970.
                 * @example 1795248001
                 */
                "webhook-timestamp": components["parameters"]["webhook-timestamp"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MessageSentElsewhereEvent"];
            };
        };
        responses: {
            "2XX": components["responses"]["EventTaken"];
            410: components["responses"]["EventsUnwanted"];
            default: components["responses"]["EventRefused"];
        };
    };
    on_message_standby_received: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description The id of the event, the same for all its attempts.
                 * @example 01936f70-1c3d-7a55-9e21-0b1c2d3e4f5a
                 */
                "webhook-id": components["parameters"]["webhook-id"];
                /**
                 * @description `v1,` and the base64 HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<body>` under the secret; during 24 hours after a rotation several, separated by blanks. Verify every delivery from its raw body, with a library of standardwebhooks.com and the secret of the webhook, and refuse timestamps more than five minutes off.
                 * @example v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=
                 */
                "webhook-signature": components["parameters"]["webhook-signature"];
                /**
                 * @description When this attempt was made, in seconds since 1970.
                 * @example 1795248001
                 */
                "webhook-timestamp": components["parameters"]["webhook-timestamp"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MessageStandbyReceivedEvent"];
            };
        };
        responses: {
            "2XX": components["responses"]["EventTaken"];
            410: components["responses"]["EventsUnwanted"];
            default: components["responses"]["EventRefused"];
        };
    };
    on_message_status_updated: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description The id of the event, the same for all its attempts.
                 * @example 01936f70-1c3d-7a55-9e21-0b1c2d3e4f5a
                 */
                "webhook-id": components["parameters"]["webhook-id"];
                /**
                 * @description `v1,` and the base64 HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<body>` under the secret; during 24 hours after a rotation several, separated by blanks. Verify every delivery from its raw body, with a library of standardwebhooks.com and the secret of the webhook, and refuse timestamps more than five minutes off.
                 * @example v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=
                 */
                "webhook-signature": components["parameters"]["webhook-signature"];
                /**
                 * @description When this attempt was made, in seconds since 1970.
                 * @example 1795248001
                 */
                "webhook-timestamp": components["parameters"]["webhook-timestamp"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MessageStatusUpdatedEvent"];
            };
        };
        responses: {
            "2XX": components["responses"]["EventTaken"];
            410: components["responses"]["EventsUnwanted"];
            default: components["responses"]["EventRefused"];
        };
    };
    on_payment_updated: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description The id of the event, the same for all its attempts.
                 * @example 01936f70-1c3d-7a55-9e21-0b1c2d3e4f5a
                 */
                "webhook-id": components["parameters"]["webhook-id"];
                /**
                 * @description `v1,` and the base64 HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<body>` under the secret; during 24 hours after a rotation several, separated by blanks. Verify every delivery from its raw body, with a library of standardwebhooks.com and the secret of the webhook, and refuse timestamps more than five minutes off.
                 * @example v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=
                 */
                "webhook-signature": components["parameters"]["webhook-signature"];
                /**
                 * @description When this attempt was made, in seconds since 1970.
                 * @example 1795248001
                 */
                "webhook-timestamp": components["parameters"]["webhook-timestamp"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PaymentUpdatedEvent"];
            };
        };
        responses: {
            "2XX": components["responses"]["EventTaken"];
            410: components["responses"]["EventsUnwanted"];
            default: components["responses"]["EventRefused"];
        };
    };
    on_platform_error: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description The id of the event, the same for all its attempts.
                 * @example 01936f70-1c3d-7a55-9e21-0b1c2d3e4f5a
                 */
                "webhook-id": components["parameters"]["webhook-id"];
                /**
                 * @description `v1,` and the base64 HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<body>` under the secret; during 24 hours after a rotation several, separated by blanks. Verify every delivery from its raw body, with a library of standardwebhooks.com and the secret of the webhook, and refuse timestamps more than five minutes off.
                 * @example v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=
                 */
                "webhook-signature": components["parameters"]["webhook-signature"];
                /**
                 * @description When this attempt was made, in seconds since 1970.
                 * @example 1795248001
                 */
                "webhook-timestamp": components["parameters"]["webhook-timestamp"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PlatformErrorEvent"];
            };
        };
        responses: {
            "2XX": components["responses"]["EventTaken"];
            410: components["responses"]["EventsUnwanted"];
            default: components["responses"]["EventRefused"];
        };
    };
    on_template_category_updated: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description The id of the event, the same for all its attempts.
                 * @example 01936f70-1c3d-7a55-9e21-0b1c2d3e4f5a
                 */
                "webhook-id": components["parameters"]["webhook-id"];
                /**
                 * @description `v1,` and the base64 HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<body>` under the secret; during 24 hours after a rotation several, separated by blanks. Verify every delivery from its raw body, with a library of standardwebhooks.com and the secret of the webhook, and refuse timestamps more than five minutes off.
                 * @example v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=
                 */
                "webhook-signature": components["parameters"]["webhook-signature"];
                /**
                 * @description When this attempt was made, in seconds since 1970.
                 * @example 1795248001
                 */
                "webhook-timestamp": components["parameters"]["webhook-timestamp"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TemplateCategoryUpdatedEvent"];
            };
        };
        responses: {
            "2XX": components["responses"]["EventTaken"];
            410: components["responses"]["EventsUnwanted"];
            default: components["responses"]["EventRefused"];
        };
    };
    on_template_status_updated: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description The id of the event, the same for all its attempts.
                 * @example 01936f70-1c3d-7a55-9e21-0b1c2d3e4f5a
                 */
                "webhook-id": components["parameters"]["webhook-id"];
                /**
                 * @description `v1,` and the base64 HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<body>` under the secret; during 24 hours after a rotation several, separated by blanks. Verify every delivery from its raw body, with a library of standardwebhooks.com and the secret of the webhook, and refuse timestamps more than five minutes off.
                 * @example v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=
                 */
                "webhook-signature": components["parameters"]["webhook-signature"];
                /**
                 * @description When this attempt was made, in seconds since 1970.
                 * @example 1795248001
                 */
                "webhook-timestamp": components["parameters"]["webhook-timestamp"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TemplateStatusUpdatedEvent"];
            };
        };
        responses: {
            "2XX": components["responses"]["EventTaken"];
            410: components["responses"]["EventsUnwanted"];
            default: components["responses"]["EventRefused"];
        };
    };
    on_webhook_test: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description The id of the event, the same for all its attempts.
                 * @example 01936f70-1c3d-7a55-9e21-0b1c2d3e4f5a
                 */
                "webhook-id": components["parameters"]["webhook-id"];
                /**
                 * @description `v1,` and the base64 HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<body>` under the secret; during 24 hours after a rotation several, separated by blanks. Verify every delivery from its raw body, with a library of standardwebhooks.com and the secret of the webhook, and refuse timestamps more than five minutes off.
                 * @example v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=
                 */
                "webhook-signature": components["parameters"]["webhook-signature"];
                /**
                 * @description When this attempt was made, in seconds since 1970.
                 * @example 1795248001
                 */
                "webhook-timestamp": components["parameters"]["webhook-timestamp"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookTestEvent"];
            };
        };
        responses: {
            "2XX": components["responses"]["EventTaken"];
            410: components["responses"]["EventsUnwanted"];
            default: components["responses"]["EventRefused"];
        };
    };
    on_workspace_limit_reached: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description The id of the event, the same for all its attempts.
                 * @example 01936f70-1c3d-7a55-9e21-0b1c2d3e4f5a
                 */
                "webhook-id": components["parameters"]["webhook-id"];
                /**
                 * @description `v1,` and the base64 HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<body>` under the secret; during 24 hours after a rotation several, separated by blanks. Verify every delivery from its raw body, with a library of standardwebhooks.com and the secret of the webhook, and refuse timestamps more than five minutes off.
                 * @example v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=
                 */
                "webhook-signature": components["parameters"]["webhook-signature"];
                /**
                 * @description When this attempt was made, in seconds since 1970.
                 * @example 1795248001
                 */
                "webhook-timestamp": components["parameters"]["webhook-timestamp"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WorkspaceLimitReachedEvent"];
            };
        };
        responses: {
            "2XX": components["responses"]["EventTaken"];
            410: components["responses"]["EventsUnwanted"];
            default: components["responses"]["EventRefused"];
        };
    };
}

/** Codes that errors may have; a later Herald may know more. */
export type ErrorCode =
  | 'API_KEY_EXPIRED'
  | 'API_KEY_INVALID'
  | 'API_KEY_MISSING'
  | 'API_KEY_REVOKED'
  | 'API_VERSION_NOT_SUPPORTED'
  | 'ASSIGNEE_NOT_MEMBER'
  | 'BACKLOG_LIMIT_REACHED'
  | 'BATCH_REFUSED'
  | 'CONNECTION_NOT_FOUND'
  | 'CONNECTION_NOT_READY'
  | 'CONTROL_NOT_ALLOWED'
  | 'CONVERSATION_NOT_FOUND'
  | 'DESTINATION_ADDRESS_NOT_ALLOWED'
  | 'DESTINATION_CONNECTION_NOT_FOUND'
  | 'DESTINATION_LIMIT_REACHED'
  | 'DESTINATION_NAME_TAKEN'
  | 'DESTINATION_NOT_FOUND'
  | 'EVENT_CURSOR_EXPIRED'
  | 'IDEMPOTENCY_KEY_INVALID'
  | 'IDEMPOTENCY_KEY_REQUIRED'
  | 'IDEMPOTENCY_KEY_REUSED'
  | 'INTERNAL_ERROR'
  | 'INVALID_REQUEST'
  | 'MEDIA_NOT_FOUND'
  | 'MEDIA_PENDING'
  | 'MEDIA_STORAGE_FULL'
  | 'MEDIA_TOO_LARGE'
  | 'MEDIA_TYPE_MISMATCH'
  | 'MEDIA_TYPE_NOT_SUPPORTED'
  | 'MESSAGE_NOT_CANCELABLE'
  | 'MESSAGE_NOT_FOUND'
  | 'MESSAGE_NOT_RECEIVED'
  | 'MESSAGE_NOT_RETRYABLE'
  | 'META_APP_ID_MISSING'
  | 'OPT_OUT_NOT_FOUND'
  | 'OPT_OUT_NOT_YOURS'
  | 'OTP_ATTEMPTS_EXHAUSTED'
  | 'OTP_CODE_ALREADY_USED'
  | 'OTP_CODE_EXPIRED'
  | 'OTP_CODE_INCORRECT'
  | 'OTP_NOT_FOUND'
  | 'OTP_PACKAGE_EXHAUSTED'
  | 'OTP_PACKAGE_REQUIRED'
  | 'OTP_PROJECT_REQUIRED'
  | 'OTP_RECIPIENT_INVALID'
  | 'OTP_RESEND_TOO_SOON'
  | 'OTP_SENDER_NOT_READY'
  | 'OUTCOME_UNKNOWN_NOT_CONFIRMED'
  | 'PAYLOAD_TOO_LARGE'
  | 'PLATFORM_REJECTED'
  | 'PLATFORM_TIMEOUT'
  | 'PLATFORM_UNAVAILABLE'
  | 'RATE_LIMITED'
  | 'RECIPIENT_LIMIT_REACHED'
  | 'RECIPIENT_NEEDS_PHONE'
  | 'RECIPIENT_OPTED_OUT'
  | 'REPLY_TARGET_NOT_FOUND'
  | 'SCOPE_REQUIRED'
  | 'SEND_AT_PASSED'
  | 'SERVICE_UNAVAILABLE'
  | 'SERVICE_WINDOW_CLOSED'
  | 'SPEND_LIMIT_REACHED'
  | 'SUBSCRIPTION_REQUIRED'
  | 'TAG_LIMIT_REACHED'
  | 'TAG_NOT_FOUND'
  | 'TAG_STARTED'
  | 'TEMPLATE_NOT_APPROVED'
  | 'TEMPLATE_NOT_FOUND'
  | 'TEMPLATE_PARAMETERS_MISMATCH'
  | 'UNSUPPORTED_CONTENT_TYPE'
  | 'UPLOAD_LIMIT_REACHED'
  | 'USAGE_TOO_LARGE'
  | 'VALIDATION_FAILED'
  | 'WEBHOOK_CONNECTION_NOT_FOUND'
  | 'WEBHOOK_DELIVERY_NOT_FOUND'
  | 'WEBHOOK_NOT_FOUND'
  | 'WEBHOOK_REPLAY_NOT_FOUND'
  | 'WEBHOOK_REPLAY_RUNNING'
  | 'WEBHOOK_REPLAY_TOO_LARGE'
  | 'WEBHOOK_SECRET_DIFFERS'
  | 'WEBHOOK_URL_NOT_ALLOWED'
  | 'WORKSPACE_LIMIT_REACHED';
