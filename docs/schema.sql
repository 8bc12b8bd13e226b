-- The schema as the migrations make it, to be read in one place. Made by: npm run generate
-- The comments that explain it are in migrations/.

create table api_key (
  id text not null,
  organization_id uuid not null,
  name text not null,
  secret_hash bytea not null,
  scopes text[] not null,
  otp_project_id uuid,
  expires_at timestamptz,
  end_noted_for timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz,
  created_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp()),
  constraint api_key_pkey PRIMARY KEY (id),
  constraint api_key_id_check CHECK ((id ~ '^[0-9A-Za-z]{12}$')),
  constraint api_key_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 200))),
  constraint api_key_secret_hash_check CHECK ((octet_length(secret_hash) = 32)),
  constraint api_key_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id),
  constraint api_key_otp_project_id_fkey FOREIGN KEY (otp_project_id) REFERENCES otp_project(id)
);
CREATE INDEX api_key_ending ON api_key (expires_at) WHERE ((revoked_at IS NULL) AND (end_noted_for IS DISTINCT FROM expires_at));
CREATE INDEX api_key_organization ON api_key (organization_id, created_at);

create table audit_event (
  id bigint not null generated always as identity,
  occurred_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp()),
  organization_id uuid,
  action text not null,
  target text,
  actor_kind text not null,
  actor text,
  address text,
  details jsonb,
  transaction_id xid8 not null default pg_current_xact_id(),
  constraint audit_event_pkey PRIMARY KEY (id),
  constraint audit_event_action_check CHECK ((action ~ '^[a-z_]+[.][a-z_]+$')),
  constraint audit_event_actor_kind_check CHECK ((actor_kind = ANY (ARRAY['key', 'operator', 'operator_key', 'person', 'setup_link', 'service']))),
  constraint audit_event_details_check CHECK ((pg_column_size(details) <= 8192))
);
CREATE INDEX audit_event_action ON audit_event (action, occurred_at, id);
CREATE INDEX audit_event_actor ON audit_event (actor, occurred_at, id) WHERE (actor IS NOT NULL);
CREATE INDEX audit_event_order ON audit_event (transaction_id, id);
CREATE INDEX audit_event_order_of_workspace ON audit_event (organization_id, transaction_id, id) WHERE (organization_id IS NOT NULL);
CREATE INDEX audit_event_time ON audit_event (occurred_at, id);
CREATE INDEX audit_event_workspace ON audit_event (organization_id, occurred_at, id) WHERE (organization_id IS NOT NULL);
CREATE TRIGGER audit_event_rows BEFORE DELETE OR UPDATE ON audit_event FOR EACH ROW EXECUTE FUNCTION audit_event_guard();
CREATE TRIGGER audit_event_truncate BEFORE TRUNCATE ON audit_event FOR EACH STATEMENT EXECUTE FUNCTION audit_event_guard();

create table connection (
  id uuid not null,
  organization_id uuid not null,
  phone_number_id text not null,
  waba_id text not null,
  phone_number text not null,
  verified_name text,
  status text not null,
  status_reason text,
  quality_rating text,
  messaging_limit text,
  throughput_per_second integer not null default 80,
  throughput_fixed boolean not null default false,
  marketing_route text not null default 'auto',
  marketing_status text,
  timezone text,
  token_ciphertext bytea not null,
  token_version integer not null default 1,
  restricted_until timestamptz,
  payment_missing_at timestamptz(3),
  service_charged_since timestamptz(3),
  facts_at timestamptz(3),
  facts_due_at timestamptz not null default clock_timestamp(),
  profile_updated_at timestamptz(3),
  created_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp()),
  updated_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp()),
  constraint connection_pkey PRIMARY KEY (id),
  constraint connection_marketing_route_check CHECK ((marketing_route = ANY (ARRAY['auto', 'messages']))),
  constraint connection_phone_number_check CHECK ((phone_number ~ '^[0-9]{5,20}$')),
  constraint connection_status_check CHECK ((status = ANY (ARRAY['connected', 'pending', 'disconnected', 'restricted']))),
  constraint connection_throughput_per_second_check CHECK (((throughput_per_second >= 1) AND (throughput_per_second <= 10000))),
  constraint connection_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id),
  constraint connection_phone_number_id UNIQUE (phone_number_id)
);
CREATE INDEX connection_facts_due ON connection (facts_due_at);
CREATE INDEX connection_organization ON connection (organization_id, created_at);
CREATE INDEX connection_status ON connection (status, created_at, id);
CREATE INDEX connection_time ON connection (created_at, id);
CREATE INDEX connection_waba ON connection (waba_id);

create table contact_book_removal (
  connection_id uuid not null,
  user_id text not null,
  organization_id uuid not null,
  due_at timestamptz not null default clock_timestamp(),
  tries integer not null default 0,
  constraint contact_book_removal_pkey PRIMARY KEY (connection_id, user_id),
  constraint contact_book_removal_connection_id_fkey FOREIGN KEY (connection_id) REFERENCES connection(id),
  constraint contact_book_removal_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id)
);
CREATE INDEX contact_book_removal_due ON contact_book_removal (due_at);
CREATE INDEX contact_book_removal_of ON contact_book_removal (organization_id, due_at);

create table conversation (
  id uuid not null,
  organization_id uuid not null,
  connection_id uuid not null,
  phone text,
  wa_id text,
  user_id text,
  profile_name text,
  last_inbound_at timestamptz,
  standby_at timestamptz,
  handover_at timestamptz,
  handover_to text,
  handover_role text,
  closed boolean not null default false,
  assignee text,
  merged_into uuid,
  created_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp()),
  assignee_id uuid,
  constraint conversation_pkey PRIMARY KEY (id),
  constraint conversation_handover_to_check CHECK ((handover_to = ANY (ARRAY['you', 'other', 'unknown']))),
  constraint conversation_connection_id_fkey FOREIGN KEY (connection_id) REFERENCES connection(id),
  constraint conversation_merged_into_fkey FOREIGN KEY (merged_into) REFERENCES conversation(id),
  constraint conversation_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id)
);
CREATE INDEX conversation_assignee ON conversation (organization_id, assignee) WHERE (assignee IS NOT NULL);
CREATE INDEX conversation_assignee_id ON conversation (organization_id, assignee_id) WHERE (assignee_id IS NOT NULL);
CREATE INDEX conversation_closed ON conversation (organization_id) WHERE closed;
CREATE INDEX conversation_last_name ON conversation (organization_id, "substring"(search_name(profile_name), '[^ ]+$') COLLATE "C") WHERE ((profile_name IS NOT NULL) AND (merged_into IS NULL) AND (search_name(profile_name) ~~ '% %'));
CREATE INDEX conversation_merged ON conversation (merged_into) WHERE (merged_into IS NOT NULL);
CREATE INDEX conversation_name ON conversation (organization_id, search_name(profile_name) COLLATE "C") WHERE ((profile_name IS NOT NULL) AND (merged_into IS NULL));
CREATE INDEX conversation_number_end ON conversation (organization_id, reverse(COALESCE(phone, wa_id)) COLLATE "C") WHERE (COALESCE(phone, wa_id) IS NOT NULL);
CREATE UNIQUE INDEX conversation_phone ON conversation (connection_id, phone) WHERE (phone IS NOT NULL);
CREATE UNIQUE INDEX conversation_user_id ON conversation (connection_id, user_id) WHERE (user_id IS NOT NULL);
CREATE UNIQUE INDEX conversation_wa_id ON conversation (connection_id, wa_id) WHERE (wa_id IS NOT NULL);
CREATE TRIGGER conversation_assignee_alone BEFORE UPDATE OF assignee ON conversation FOR EACH ROW WHEN (((new.assignee IS DISTINCT FROM old.assignee) AND (new.assignee_id = old.assignee_id))) EXECUTE FUNCTION conversation_assignee_alone();

create table conversation_alias (
  connection_id uuid not null,
  name text not null,
  conversation_id uuid not null,
  organization_id uuid not null,
  replaced_at timestamptz not null,
  constraint conversation_alias_pkey PRIMARY KEY (connection_id, name, conversation_id),
  constraint conversation_alias_connection_id_fkey FOREIGN KEY (connection_id) REFERENCES connection(id),
  constraint conversation_alias_conversation_id_fkey FOREIGN KEY (conversation_id) REFERENCES conversation(id),
  constraint conversation_alias_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id)
);
CREATE INDEX conversation_alias_of ON conversation_alias (conversation_id);

create table database_identity (
  single boolean not null default true,
  identity text not null,
  confirmed_at timestamptz not null default clock_timestamp(),
  blocked_since timestamptz,
  blocked_on text,
  continued_at timestamptz,
  constraint database_identity_pkey PRIMARY KEY (single),
  constraint database_identity_single_check CHECK (single)
);

create table erased_name (
  organization_id uuid not null,
  hash bytea not null,
  erased_at timestamptz(3) not null,
  constraint erased_name_pkey PRIMARY KEY (organization_id, hash),
  constraint erased_name_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id)
);

create table erasure (
  id uuid not null,
  organization_id uuid not null,
  numbers text[] not null,
  user_ids text[] not null,
  conversation_ids uuid[] not null,
  due_at timestamptz not null,
  constraint erasure_pkey PRIMARY KEY (id),
  constraint erasure_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id)
);
CREATE INDEX erasure_due ON erasure (due_at);

create table event_destination (
  id uuid not null,
  organization_id uuid not null,
  name text not null,
  kind text not null,
  settings jsonb not null,
  secret_names text[] not null default '{}'::text[],
  secrets_ciphertext bytea,
  events text[] not null,
  connection_ids uuid[] not null default '{}'::uuid[],
  active boolean not null,
  revision integer not null default 1,
  cursor_transaction xid8 not null default pg_snapshot_xmin(pg_current_snapshot()),
  cursor_id uuid not null default uuid_v7(),
  written_ahead uuid[] not null default '{}'::uuid[],
  attempt_id uuid,
  due_at timestamptz not null default clock_timestamp(),
  tries integer not null default 0,
  failing_since timestamptz(3),
  last_error text,
  last_error_at timestamptz(3),
  last_written_at timestamptz(3),
  written bigint not null default 0,
  lost bigint not null default 0,
  lost_at timestamptz(3),
  lost_reported bigint not null default 0,
  lost_reported_at timestamptz(3),
  created_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp()),
  updated_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp()),
  constraint event_destination_pkey PRIMARY KEY (id),
  constraint event_destination_events_check CHECK ((cardinality(events) > 0)),
  constraint event_destination_kind_check CHECK ((kind = ANY (ARRAY['nats', 'rabbitmq', 'sqs']))),
  constraint event_destination_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id)
) with (fillfactor=70, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=500);
CREATE UNIQUE INDEX event_destination_name ON event_destination (organization_id, name);

create table event_recording (
  organization_id uuid not null,
  since xid8 not null default pg_snapshot_xmin(pg_current_snapshot()),
  read_at timestamptz not null default clock_timestamp(),
  constraint event_recording_pkey PRIMARY KEY (organization_id),
  constraint event_recording_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id)
);

create table heartbeat (
  name text not null,
  beat_at timestamptz not null,
  every_seconds integer,
  host_ahead_seconds double precision,
  replication jsonb,
  constraint heartbeat_pkey PRIMARY KEY (name)
) with (fillfactor=50);

create table idempotency_key (
  organization_id uuid not null,
  key uuid not null,
  message_id uuid not null,
  constraint idempotency_key_pkey PRIMARY KEY (organization_id, key)
) with (autovacuum_vacuum_insert_scale_factor=0.05);

create table invitation (
  id uuid not null,
  organization_id uuid not null,
  email text not null,
  role text not null,
  expires_at timestamptz(3) not null,
  accepted_at timestamptz(3),
  accepted_by uuid,
  revoked_at timestamptz(3),
  created_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp()),
  constraint invitation_pkey PRIMARY KEY (id),
  constraint invitation_check CHECK (((accepted_at IS NULL) = (accepted_by IS NULL))),
  constraint invitation_email_check CHECK (((char_length(email) >= 3) AND (char_length(email) <= 320))),
  constraint invitation_role_check CHECK ((role = ANY (ARRAY['viewer', 'agent', 'developer', 'admin']))),
  constraint invitation_accepted_by_fkey FOREIGN KEY (accepted_by) REFERENCES person(id),
  constraint invitation_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id)
);
CREATE INDEX invitation_end ON invitation (expires_at);
CREATE UNIQUE INDEX invitation_open ON invitation (email, organization_id) WHERE ((accepted_at IS NULL) AND (revoked_at IS NULL));
CREATE INDEX invitation_page ON invitation (organization_id, created_at, id);

create table lane (
  key text not null,
  owner uuid,
  paused_until timestamptz,
  pause_count integer not null default 0,
  pause_reason text,
  next_slot_at timestamptz not null default '-infinity'::timestamp with time zone,
  low_at timestamptz not null default '-infinity'::timestamp with time zone,
  constraint lane_pkey PRIMARY KEY (key)
) with (fillfactor=50, autovacuum_vacuum_scale_factor=0.01);
CREATE INDEX lane_in_use ON lane (key) WHERE ((owner IS NOT NULL) OR (low_at < next_slot_at));

create table limit_correction (
  organization_id uuid not null,
  kind text not null,
  recipient text not null default '',
  period date not null,
  amount bigint not null
) with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=2000);
CREATE INDEX limit_correction_count ON limit_correction (organization_id, kind, recipient, period);

create table limit_reservation (
  message_id uuid not null,
  organization_id uuid not null,
  day date,
  week date,
  recipient text,
  month date,
  amount bigint,
  country text,
  billed boolean not null default false,
  failed boolean not null default false,
  given_back boolean not null default false,
  counts boolean not null default true,
  earlier jsonb,
  constraint limit_reservation_pkey PRIMARY KEY (message_id)
);
CREATE INDEX limit_reservation_age ON limit_reservation (COALESCE(day, week, month));

create table limit_use (
  organization_id uuid not null,
  kind text not null,
  recipient text not null default '',
  period date not null,
  used bigint not null,
  warned smallint not null default 0,
  constraint limit_use_pkey PRIMARY KEY (organization_id, kind, recipient, period),
  constraint limit_use_kind_check CHECK ((kind = ANY (ARRAY['messages_per_day', 'spend_per_month', 'marketing_per_recipient_per_week']))),
  constraint limit_use_used_check CHECK ((used >= 0)),
  constraint limit_use_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id)
) with (fillfactor=50);
CREATE INDEX limit_use_period ON limit_use (period);

create table media_object (
  id uuid not null,
  organization_id uuid not null,
  connection_id uuid not null,
  direction text not null,
  type text not null,
  mime_type text not null,
  size_bytes bigint,
  sha256 text,
  filename text,
  voice boolean not null default false,
  status text not null,
  storage_key uuid,
  platform_media_id text,
  tries integer not null default 0,
  next_attempt_at timestamptz,
  lease_owner uuid,
  lease_until timestamptz,
  failure text,
  created_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp()),
  constraint media_object_pkey PRIMARY KEY (id),
  constraint media_object_direction_check CHECK ((direction = ANY (ARRAY['outbound', 'inbound']))),
  constraint media_object_filename_check CHECK (((char_length(filename) >= 1) AND (char_length(filename) <= 240))),
  constraint media_object_mime_type_check CHECK (((char_length(mime_type) >= 1) AND (char_length(mime_type) <= 255))),
  constraint media_object_pending CHECK (((status <> 'pending') OR ((platform_media_id IS NOT NULL) AND (next_attempt_at IS NOT NULL)))),
  constraint media_object_sha256_check CHECK ((sha256 ~ '^[0-9a-f]{64}$')),
  constraint media_object_size_bytes_check CHECK ((size_bytes >= 0)),
  constraint media_object_status_check CHECK ((status = ANY (ARRAY['stored', 'pending', 'failed']))),
  constraint media_object_stored CHECK (((status <> 'stored') OR ((storage_key IS NOT NULL) AND (size_bytes IS NOT NULL) AND (sha256 IS NOT NULL)))),
  constraint media_object_type_check CHECK ((type = ANY (ARRAY['image', 'video', 'audio', 'document', 'sticker']))),
  constraint media_object_connection_id_fkey FOREIGN KEY (connection_id) REFERENCES connection(id),
  constraint media_object_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id)
) with (autovacuum_vacuum_scale_factor=0.05);
CREATE INDEX media_object_age ON media_object (direction, created_at);
CREATE INDEX media_object_awaited ON media_object (connection_id, next_attempt_at) WHERE (next_attempt_at IS NOT NULL);
CREATE INDEX media_object_list ON media_object (organization_id, created_at DESC, id DESC);
CREATE INDEX media_object_list_connection ON media_object (organization_id, connection_id, created_at DESC, id DESC);
CREATE INDEX media_object_list_kind ON media_object (organization_id, direction, type, created_at DESC, id DESC);
CREATE UNIQUE INDEX media_object_storage_key ON media_object (storage_key) WHERE (storage_key IS NOT NULL);
CREATE TRIGGER media_usage_delete AFTER DELETE ON media_object REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION media_usage_delete();
CREATE TRIGGER media_usage_insert AFTER INSERT ON media_object REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION media_usage_insert();
CREATE TRIGGER media_usage_update AFTER UPDATE ON media_object REFERENCING OLD TABLE AS removed NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION media_usage_update();

create table media_platform_id (
  media_object_id uuid not null,
  connection_id uuid not null,
  organization_id uuid not null,
  platform_media_id text not null,
  expires_at timestamptz not null,
  created_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp()),
  constraint media_platform_id_pkey PRIMARY KEY (media_object_id, connection_id),
  constraint media_platform_id_connection_id_fkey FOREIGN KEY (connection_id) REFERENCES connection(id),
  constraint media_platform_id_media_object_id_fkey FOREIGN KEY (media_object_id) REFERENCES media_object(id) ON DELETE CASCADE,
  constraint media_platform_id_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id)
);

create table media_usage (
  organization_id uuid not null,
  used_bytes bigint not null default 0,
  constraint media_usage_pkey PRIMARY KEY (organization_id),
  constraint media_usage_used_bytes_check CHECK ((used_bytes >= 0)),
  constraint media_usage_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id)
) with (fillfactor=50);

create table membership (
  organization_id uuid not null,
  person_id uuid not null,
  source text not null,
  role text not null,
  created_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp()),
  constraint membership_pkey PRIMARY KEY (organization_id, person_id, source),
  constraint membership_role_check CHECK ((role = ANY (ARRAY['viewer', 'agent', 'developer', 'admin']))),
  constraint membership_source_check CHECK ((source = ANY (ARRAY['group', 'invitation']))),
  constraint membership_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id),
  constraint membership_person_id_fkey FOREIGN KEY (person_id) REFERENCES person(id)
);
CREATE INDEX membership_page ON membership (organization_id, created_at, person_id);
CREATE INDEX membership_person ON membership (person_id);

create table message (
  id uuid not null,
  organization_id uuid not null,
  connection_id uuid not null,
  conversation_id uuid,
  direction text not null,
  type text not null,
  recipient text,
  recipient_user_id text,
  sender text,
  client_message_id text,
  tag text,
  metadata jsonb,
  fingerprint bytea,
  reply_to_message_id uuid,
  media_object_id uuid,
  meta_message_id text,
  original_meta_id text,
  send_at timestamptz(3),
  ttl_seconds integer,
  trace_context bytea,
  sent_at timestamptz,
  standby boolean not null default false,
  source text,
  created_at timestamptz(3) not null,
  constraint message_pkey PRIMARY KEY (id),
  constraint message_direction_check CHECK ((direction = ANY (ARRAY['outbound', 'inbound']))),
  constraint message_source_check CHECK ((source = ANY (ARRAY['app', 'history'])))
) with (autovacuum_vacuum_scale_factor=0.01, autovacuum_vacuum_insert_scale_factor=0.05);
CREATE INDEX message_changes ON message (connection_id, original_meta_id) WHERE (original_meta_id IS NOT NULL);
CREATE INDEX message_conversation_in ON message (conversation_id, created_at DESC, id DESC) WHERE ((direction = 'inbound') AND (conversation_id IS NOT NULL));
CREATE INDEX message_conversation_out ON message (conversation_id, created_at DESC, id DESC) WHERE ((direction = 'outbound') AND (conversation_id IS NOT NULL));
CREATE INDEX message_journal ON message (organization_id, created_at DESC, id DESC);
CREATE INDEX message_journal_client ON message (organization_id, client_message_id, created_at DESC, id DESC) WHERE (client_message_id IS NOT NULL);
CREATE INDEX message_journal_in ON message (connection_id, created_at DESC, id DESC) WHERE (direction = 'inbound');
CREATE INDEX message_journal_media ON message (organization_id, media_object_id, created_at DESC, id DESC) WHERE (media_object_id IS NOT NULL);
CREATE INDEX message_journal_out ON message (connection_id, created_at DESC, id DESC) WHERE (direction = 'outbound');
CREATE INDEX message_journal_recipient ON message (organization_id, recipient, created_at DESC, id DESC) WHERE (direction = 'outbound');
CREATE INDEX message_journal_sender ON message (organization_id, sender, connection_id, created_at DESC, id DESC) WHERE (direction = 'inbound');
CREATE INDEX message_journal_source ON message (organization_id, source, created_at DESC, id DESC) WHERE (source IS NOT NULL);
CREATE INDEX message_journal_tag ON message (organization_id, tag, created_at DESC, id DESC) WHERE (tag IS NOT NULL);
CREATE INDEX message_written ON message (organization_id, created_at DESC, id DESC) WHERE ((direction = 'inbound') AND (source IS NULL) AND (NOT standby) AND (type <> ALL (ARRAY['reaction', 'system', 'edit', 'revoke'])));

create table message_act (
  message_id uuid not null,
  organization_id uuid not null,
  at timestamptz not null,
  act text not null,
  api_key_id text,
  queued_at timestamptz,
  failed_at timestamptz,
  failure_category text,
  error_code text,
  constraint message_act_pkey PRIMARY KEY (message_id, at, act),
  constraint message_act_act_check CHECK ((act = ANY (ARRAY['retried', 'canceled', 'deleted', 'warned'])))
);

create table message_attempt (
  message_id uuid not null,
  id uuid not null,
  organization_id uuid not null,
  number integer not null,
  started_at timestamptz not null,
  answer text,
  answered_at timestamptz,
  http_status integer,
  code integer,
  text text,
  category text,
  trace_id text,
  lease_ended_at timestamptz,
  taken_at timestamptz,
  failed_at timestamptz,
  failed_code integer,
  failed_text text,
  failed_category text,
  replaced_at timestamptz,
  meta_message_id text,
  constraint message_attempt_pkey PRIMARY KEY (message_id, id),
  constraint message_attempt_answer_check CHECK ((answer = ANY (ARRAY['accepted', 'rejected', 'deferred', 'unknown'])))
) with (autovacuum_vacuum_scale_factor=0.01, autovacuum_vacuum_insert_scale_factor=0.05);
CREATE INDEX message_attempt_meta ON message_attempt USING hash (meta_message_id) WHERE (meta_message_id IS NOT NULL);
CREATE INDEX message_attempt_replaced ON message_attempt (replaced_at) WHERE (replaced_at IS NOT NULL);

create table message_content (
  message_id uuid not null,
  body text,
  content jsonb not null,
  inbound_context jsonb,
  constraint message_content_pkey PRIMARY KEY (message_id)
) partition by RANGE (message_id);
CREATE INDEX message_content_author ON message_content ((((inbound_context -> 'sender') ->> 'user_id'))) WHERE (((inbound_context -> 'sender') ->> 'user_id') IS NOT NULL);

create table message_queue (
  connection_id uuid not null,
  created_at timestamptz(3) not null,
  message_id uuid not null,
  organization_id uuid not null,
  conversation_id uuid,
  recipient text not null,
  seq bigint not null generated by default as identity,
  queued_at timestamptz not null,
  due_at timestamptz,
  not_before timestamptz,
  held_until timestamptz,
  scheduled_for timestamptz(3),
  expires_at timestamptz not null,
  retried_at timestamptz,
  claimed_at timestamptz,
  lease_until timestamptz,
  attempt_id uuid,
  attempt_number integer not null default 0,
  tries integer not null default 0,
  tag text,
  constraint message_queue_pkey PRIMARY KEY (message_id),
  constraint message_queue_check CHECK (((attempt_id IS NULL) = (lease_until IS NULL))),
  constraint message_queue_check1 CHECK (((attempt_id IS NULL) = (claimed_at IS NULL))),
  constraint message_queue_check2 CHECK (((attempt_id IS NULL) OR (due_at IS NULL))),
  constraint message_queue_check3 CHECK (((held_until IS NULL) OR (num_nonnulls(due_at, attempt_id) = 0))),
  constraint message_queue_check4 CHECK (((held_until IS NOT NULL) OR (scheduled_for IS NULL)))
) with (fillfactor=70, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=2000);
CREATE INDEX message_queue_by_time ON message_queue (connection_id, created_at) WHERE (created_at > '-infinity'::timestamp with time zone);
CREATE INDEX message_queue_due ON message_queue (connection_id, due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX message_queue_expiry ON message_queue (expires_at) WHERE ((held_until IS NULL) AND (expires_at > '-infinity'::timestamp with time zone));
CREATE INDEX message_queue_held ON message_queue (connection_id, held_until) WHERE ((held_until IS NOT NULL) AND (queued_at > '-infinity'::timestamp with time zone));
CREATE INDEX message_queue_held_recipient ON message_queue (connection_id, recipient) WHERE ((held_until IS NOT NULL) AND (recipient <> ''));
CREATE INDEX message_queue_lane ON message_queue (connection_id, recipient, ((attempt_id IS NULL)), seq) WHERE (held_until IS NULL);
CREATE INDEX message_queue_lease ON message_queue (lease_until) WHERE (lease_until IS NOT NULL);
CREATE INDEX message_queue_paused ON message_queue (organization_id, tag, scheduled_for NULLS FIRST, seq) WHERE (held_until = 'infinity'::timestamp with time zone);
CREATE INDEX message_queue_tag ON message_queue (organization_id, tag, scheduled_for NULLS FIRST, seq) WHERE ((tag IS NOT NULL) AND (held_until IS DISTINCT FROM 'infinity'::timestamp with time zone));
CREATE INDEX message_queue_tag_sending ON message_queue (organization_id, tag) WHERE ((tag <> '') AND (attempt_id IS NOT NULL));
CREATE TRIGGER message_queue_delete AFTER DELETE ON message_queue REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION message_queue_delete();
CREATE TRIGGER message_queue_enter BEFORE INSERT ON message_queue FOR EACH ROW EXECUTE FUNCTION message_queue_enter();
CREATE TRIGGER message_queue_enter_again BEFORE UPDATE OF held_until, recipient ON message_queue FOR EACH ROW WHEN (((new.due_at IS NOT NULL) AND ((old.held_until IS NOT NULL) OR (new.recipient <> old.recipient)))) EXECUTE FUNCTION message_queue_enter();
CREATE TRIGGER message_queue_release AFTER UPDATE OF attempt_id, held_until, recipient ON message_queue FOR EACH ROW WHEN (((old.held_until IS NULL) AND (((old.attempt_id IS NOT NULL) AND (new.attempt_id IS NULL)) OR ((num_nonnulls(old.attempt_id, old.due_at) = 1) AND ((new.held_until IS NOT NULL) OR (new.recipient <> old.recipient)))))) EXECUTE FUNCTION message_queue_release();

create table message_read (
  message_id uuid not null,
  organization_id uuid not null,
  read_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp()),
  constraint message_read_pkey PRIMARY KEY (message_id)
);

create table message_retry (
  organization_id uuid not null,
  idempotency_key uuid not null,
  message_id uuid not null,
  created_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp()),
  constraint message_retry_pkey PRIMARY KEY (organization_id, idempotency_key),
  constraint message_retry_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id)
);

create table message_state (
  message_id uuid not null,
  organization_id uuid not null,
  connection_id uuid not null,
  conversation_id uuid,
  created_at timestamptz(3) not null,
  status text not null default 'queued',
  attention text default 
CASE
    WHEN (status = ANY (ARRAY['failed', 'outcome_unknown'])) THEN status
    ELSE NULL
END,
  event_count integer not null default 0,
  changed_at timestamptz,
  queued_at timestamptz not null,
  processing_at timestamptz,
  accepted_at timestamptz,
  sent_at timestamptz,
  delivered_at timestamptz,
  read_at timestamptz,
  failed_at timestamptz,
  meta_message_id text,
  failure_category text,
  error_code text,
  error_message text,
  attempt_id uuid,
  attempt_number integer not null default 0,
  attempt_count integer not null default 0,
  tries integer not null default 0,
  retried_at timestamptz,
  expires_at timestamptz,
  billable boolean,
  pricing_category text,
  pricing_type text,
  pricing_subtype text,
  pricing_model text,
  constraint message_state_pkey PRIMARY KEY (message_id),
  constraint message_state_status_check CHECK ((status = ANY (ARRAY['queued', 'accepted', 'sent', 'delivered', 'read', 'failed', 'outcome_unknown'])))
) with (fillfactor=60, autovacuum_vacuum_scale_factor=0.01, autovacuum_vacuum_insert_scale_factor=0.05);
CREATE INDEX message_state_attention ON message_state (connection_id, attention, created_at DESC, message_id DESC) WHERE (attention IS NOT NULL);
CREATE INDEX message_state_conversation ON message_state (conversation_id, attention, created_at DESC, message_id DESC) WHERE ((attention IS NOT NULL) AND (conversation_id IS NOT NULL));
CREATE TRIGGER limit_release_insert AFTER INSERT ON message_state REFERENCING NEW TABLE AS entered FOR EACH STATEMENT EXECUTE FUNCTION limit_release();
CREATE TRIGGER limit_release_update AFTER UPDATE ON message_state REFERENCING NEW TABLE AS entered FOR EACH STATEMENT EXECUTE FUNCTION limit_release();

create table message_tag (
  organization_id uuid not null,
  tag text not null,
  id uuid not null default gen_random_uuid(),
  created_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp()),
  start_at timestamptz(3),
  started_at timestamptz default clock_timestamp(),
  messages_per_minute integer,
  paced_at timestamptz,
  paused boolean not null default false,
  resuming boolean not null default false,
  cancel_before timestamptz,
  canceled_before timestamptz,
  retry_before timestamptz,
  retry_category text,
  retry_at timestamptz,
  retry_id uuid,
  action text,
  acted_at timestamptz(3),
  ended_at timestamptz(3),
  done integer not null default 0,
  skipped jsonb not null default '{}'::jsonb,
  constraint message_tag_pkey PRIMARY KEY (organization_id, tag),
  constraint message_tag_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id)
);
CREATE INDEX message_tag_held ON message_tag (organization_id, tag) WHERE (paused OR (cancel_before IS NOT NULL) OR (started_at IS NULL));
CREATE INDEX message_tag_list ON message_tag (organization_id, created_at DESC, id DESC);
CREATE INDEX message_tag_paced ON message_tag (organization_id, tag) WHERE (messages_per_minute IS NOT NULL);
CREATE INDEX message_tag_start ON message_tag (start_at) WHERE ((started_at IS NULL) AND (NOT paused));
CREATE INDEX message_tag_work ON message_tag (organization_id, tag) WHERE (resuming OR (cancel_before IS NOT NULL) OR (retry_before IS NOT NULL));

create table message_tag_count (
  organization_id uuid not null,
  tag text not null,
  connection_id uuid not null,
  status text not null,
  failure_category text,
  messages integer not null,
  scheduled integer not null default 0,
  last_scheduled_for timestamptz,
  first_at timestamptz,
  last_at timestamptz not null,
  is_sum boolean not null default false
) with (autovacuum_vacuum_scale_factor=0.05, autovacuum_vacuum_threshold=500);
CREATE INDEX message_tag_count_new ON message_tag_count (organization_id, tag) WHERE (NOT is_sum);
CREATE INDEX message_tag_count_queued ON message_tag_count (connection_id) WHERE (is_sum AND (status = 'queued') AND (messages > 0));
CREATE INDEX message_tag_count_tag ON message_tag_count (organization_id, tag);

create table notification_queue (
  notification_id uuid not null,
  due_at timestamptz not null default (clock_timestamp() + '00:00:05'::interval),
  tries integer not null default 0,
  constraint notification_queue_pkey PRIMARY KEY (notification_id),
  constraint notification_queue_notification_id_fkey FOREIGN KEY (notification_id) REFERENCES platform_notification(id) ON DELETE CASCADE
) with (fillfactor=70, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=2000);
CREATE INDEX notification_queue_due ON notification_queue (due_at);

create table number_pin (
  id uuid not null,
  organization_id uuid not null,
  phone_number_id text not null,
  pin_ciphertext bytea not null,
  created_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp()),
  constraint number_pin_pkey PRIMARY KEY (id),
  constraint number_pin_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id)
);
CREATE UNIQUE INDEX number_pin_number ON number_pin (organization_id, phone_number_id);

create table operator_key (
  id text not null,
  name text not null,
  secret_hash bytea not null,
  scopes text[] not null,
  workspace_ids uuid[],
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz,
  created_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp()),
  constraint operator_key_pkey PRIMARY KEY (id),
  constraint operator_key_id_check CHECK ((id ~ '^[0-9A-Za-z]{12}$')),
  constraint operator_key_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 200))),
  constraint operator_key_secret_hash_check CHECK ((octet_length(secret_hash) = 32)),
  constraint operator_key_workspace_ids_check CHECK ((cardinality(workspace_ids) > 0))
);

create table operator_repeat (
  operator_key_id text not null,
  key text not null,
  fingerprint bytea not null,
  organization_id uuid,
  answer jsonb,
  created_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp()),
  constraint operator_repeat_pkey PRIMARY KEY (operator_key_id, key),
  constraint operator_repeat_fingerprint_check CHECK ((octet_length(fingerprint) = 32)),
  constraint operator_repeat_key_check CHECK (((octet_length(key) >= 8) AND (octet_length(key) <= 128)))
);
CREATE INDEX operator_repeat_time ON operator_repeat (created_at);

create table opt_out (
  id uuid not null,
  organization_id uuid not null,
  connection_id uuid,
  source text not null,
  category text not null,
  active boolean not null,
  since timestamptz(3) not null,
  said_at timestamptz(3) not null,
  phone text,
  user_id text,
  reason text,
  constraint opt_out_pkey PRIMARY KEY (id),
  constraint opt_out_category_check CHECK ((category = ANY (ARRAY['marketing', 'all']))),
  constraint opt_out_platform CHECK (((source = 'platform') = (connection_id IS NOT NULL))),
  constraint opt_out_source_check CHECK ((source = ANY (ARRAY['own', 'platform']))),
  constraint opt_out_connection_id_fkey FOREIGN KEY (connection_id) REFERENCES connection(id),
  constraint opt_out_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id)
);
CREATE INDEX opt_out_shown ON opt_out (organization_id, source, category, since, id) WHERE (active AND ((phone IS NOT NULL) OR (user_id IS NOT NULL)));

create table opt_out_keywords (
  organization_id uuid not null,
  keywords jsonb not null,
  constraint opt_out_keywords_pkey PRIMARY KEY (organization_id),
  constraint opt_out_keywords_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id)
);

create table opt_out_name (
  organization_id uuid not null,
  hash bytea not null,
  opt_out_id uuid not null,
  constraint opt_out_name_pkey PRIMARY KEY (organization_id, hash, opt_out_id),
  constraint opt_out_name_opt_out_id_fkey FOREIGN KEY (opt_out_id) REFERENCES opt_out(id)
);
CREATE INDEX opt_out_name_of ON opt_out_name (opt_out_id);

create table opt_out_salt (
  organization_id uuid not null,
  salt text not null,
  constraint opt_out_salt_pkey PRIMARY KEY (organization_id),
  constraint opt_out_salt_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id)
);

create table organization (
  id uuid not null,
  name text not null,
  api_paid_until timestamptz,
  rate_per_second integer,
  rate_burst integer,
  storage_limit_bytes bigint,
  external_id text,
  deletion_requested_at timestamptz(3),
  created_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp()),
  messages_per_day integer,
  spend_per_month numeric(15,6),
  marketing_per_recipient_per_week integer,
  time_zone text not null default 'UTC',
  constraint organization_pkey PRIMARY KEY (id),
  constraint organization_external_id_check CHECK (((char_length(external_id) >= 1) AND (char_length(external_id) <= 200))),
  constraint organization_marketing_per_recipient_per_week_check CHECK ((marketing_per_recipient_per_week >= 0)),
  constraint organization_messages_per_day_check CHECK ((messages_per_day >= 0)),
  constraint organization_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 200))),
  constraint organization_rate_burst_check CHECK ((rate_burst > 0)),
  constraint organization_rate_per_second_check CHECK ((rate_per_second > 0)),
  constraint organization_spend_per_month_check CHECK ((spend_per_month >= (0)::numeric)),
  constraint organization_storage_limit_bytes_check CHECK ((storage_limit_bytes >= 0)),
  constraint organization_external_id_key UNIQUE (external_id)
);
CREATE INDEX organization_created ON organization (created_at, id);
CREATE INDEX organization_deletion ON organization (deletion_requested_at) WHERE (deletion_requested_at IS NOT NULL);
CREATE INDEX organization_name ON organization (lower(name) text_pattern_ops);

create table otp_allowance (
  project_id uuid not null,
  organization_id uuid not null,
  country text not null,
  monthly_limit integer not null,
  updated_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp()),
  constraint otp_allowance_pkey PRIMARY KEY (project_id, country),
  constraint otp_allowance_country_check CHECK ((country ~ '^[A-Z]{2}$')),
  constraint otp_allowance_monthly_limit_check CHECK ((monthly_limit >= 0)),
  constraint otp_allowance_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id),
  constraint otp_allowance_project_id_fkey FOREIGN KEY (project_id) REFERENCES otp_project(id)
);

create table otp_challenge (
  id uuid not null,
  seq bigint not null generated always as identity,
  organization_id uuid not null,
  project_id uuid not null,
  mode text not null,
  recipient text,
  number text,
  country text,
  idempotency_key text not null,
  key_number text,
  fingerprint bytea not null,
  status text not null,
  error text,
  code_hash bytea,
  code_key_version integer not null,
  code_ciphertext bytea,
  attempts integer not null default 0,
  wrong_attempts integer not null default 0,
  template_language text not null,
  package_id uuid,
  package_used boolean not null default false,
  released_at timestamptz,
  attempt_id uuid not null,
  meta_message_id text,
  lease_until timestamptz,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  sending_at timestamptz,
  sent_at timestamptz,
  delivered_at timestamptz,
  read_at timestamptz,
  verified_at timestamptz,
  constraint otp_challenge_pkey PRIMARY KEY (id),
  constraint otp_challenge_attempts_check CHECK (((attempts >= 0) AND (attempts <= 5))),
  constraint otp_challenge_mode_check CHECK ((mode = ANY (ARRAY['sandbox', 'live']))),
  constraint otp_challenge_recipient_check CHECK ((recipient ~ '^[0-9]{5,20}$')),
  constraint otp_challenge_status_check CHECK ((status = ANY (ARRAY['queued', 'sending', 'outcome_unknown', 'sent', 'delivered', 'read', 'verified', 'failed', 'expired']))),
  constraint otp_challenge_wrong_attempts_check CHECK (((wrong_attempts >= 0) AND (wrong_attempts <= 5))),
  constraint otp_challenge_idempotency UNIQUE (project_id, idempotency_key)
) with (autovacuum_vacuum_scale_factor=0.01, autovacuum_vacuum_insert_scale_factor=0.05);
CREATE INDEX otp_challenge_attempt ON otp_challenge (attempt_id);
CREATE INDEX otp_challenge_ended ON otp_challenge (recipient) WHERE ((recipient IS NOT NULL) AND ((status || '') <> ALL (ARRAY['queued', 'sending', 'outcome_unknown', 'sent', 'delivered', 'read'])));
CREATE INDEX otp_challenge_expires ON otp_challenge (expires_at) WHERE ((status || '') = ANY (ARRAY['queued', 'sending', 'outcome_unknown', 'sent', 'delivered', 'read']));
CREATE INDEX otp_challenge_kept ON otp_challenge (created_at) WHERE (recipient IS NOT NULL);
CREATE INDEX otp_challenge_key_number ON otp_challenge (key_number) WHERE (key_number IS NOT NULL);
CREATE INDEX otp_challenge_leased ON otp_challenge (lease_until) WHERE (lease_until IS NOT NULL);
CREATE INDEX otp_challenge_meta ON otp_challenge (meta_message_id) WHERE (meta_message_id IS NOT NULL);
CREATE INDEX otp_challenge_of_recipient ON otp_challenge (project_id, recipient) WHERE ((status || '') = ANY (ARRAY['queued', 'sending', 'outcome_unknown', 'sent', 'delivered', 'read']));
CREATE INDEX otp_challenge_turn ON otp_challenge (project_id, created_at, seq) WHERE ((status || '') = 'queued');
CREATE INDEX otp_challenge_waits ON otp_challenge (created_at) WHERE ((status || '') = 'queued');

create table otp_package (
  id uuid not null,
  project_id uuid not null,
  organization_id uuid not null,
  country text not null,
  month date not null,
  monthly_limit integer not null,
  reserved integer not null default 0,
  used integer not null default 0,
  constraint otp_package_pkey PRIMARY KEY (id),
  constraint otp_package_monthly_limit_check CHECK ((monthly_limit >= 0)),
  constraint otp_package_reserved_check CHECK ((reserved >= 0)),
  constraint otp_package_used_check CHECK ((used >= 0)),
  constraint otp_package_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id),
  constraint otp_package_project_id_fkey FOREIGN KEY (project_id) REFERENCES otp_project(id),
  constraint otp_package_month UNIQUE (project_id, country, month)
) with (fillfactor=50);

create table otp_project (
  id uuid not null,
  organization_id uuid not null,
  name text not null,
  mode text not null,
  template_language text not null default 'en_US',
  allowed_countries text[],
  guesses_since timestamptz,
  guesses_right integer not null default 0,
  guesses_wrong integer not null default 0,
  created_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp()),
  constraint otp_project_pkey PRIMARY KEY (id),
  constraint otp_project_mode_check CHECK ((mode = ANY (ARRAY['sandbox', 'live']))),
  constraint otp_project_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 200))),
  constraint otp_project_template_language_check CHECK (((char_length(template_language) >= 2) AND (char_length(template_language) <= 20))),
  constraint otp_project_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id)
);
CREATE INDEX otp_project_organization ON otp_project (organization_id, created_at);

create table otp_recipient (
  project_id uuid not null,
  recipient text not null,
  organization_id uuid not null,
  last_sent_at timestamptz,
  tokens double precision not null,
  refilled_at timestamptz not null,
  failures integer not null default 0,
  failures_since timestamptz,
  constraint otp_recipient_pkey PRIMARY KEY (project_id, recipient)
) with (fillfactor=70, autovacuum_vacuum_scale_factor=0.01);
CREATE INDEX otp_recipient_age ON otp_recipient (last_sent_at);

create table otp_sender (
  id boolean not null default true,
  phone_number_id text not null,
  former_number_ids text[] not null default '{}'::text[],
  phone_number text,
  template_name text not null,
  token_ciphertext bytea not null,
  token_version integer not null default 1,
  throughput_per_second integer not null default 80,
  status text not null default 'connected',
  updated_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp()),
  constraint otp_sender_pkey PRIMARY KEY (id),
  constraint otp_sender_id_check CHECK (id),
  constraint otp_sender_status_check CHECK ((status = ANY (ARRAY['connected', 'disconnected']))),
  constraint otp_sender_throughput_per_second_check CHECK (((throughput_per_second >= 1) AND (throughput_per_second <= 10000)))
);

create table person (
  id uuid not null,
  issuer text not null,
  subject text not null,
  email text not null,
  name text not null,
  is_operator boolean not null,
  last_signed_in_at timestamptz(3) not null,
  created_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp()),
  constraint person_pkey PRIMARY KEY (id),
  constraint person_email_check CHECK (((char_length(email) >= 3) AND (char_length(email) <= 320))),
  constraint person_issuer_check CHECK ((char_length(issuer) <= 500)),
  constraint person_name_check CHECK ((char_length(name) <= 200)),
  constraint person_subject_check CHECK (((char_length(subject) >= 1) AND (char_length(subject) <= 255))),
  constraint person_issuer_subject_key UNIQUE (issuer, subject)
);
CREATE INDEX person_email ON person (email);
CREATE INDEX person_page ON person (created_at, id);

create table person_grant (
  id uuid not null,
  grant_ciphertext bytea not null,
  check_due_at timestamptz not null,
  constraint person_grant_pkey PRIMARY KEY (id),
  constraint person_grant_id_fkey FOREIGN KEY (id) REFERENCES person_session(id) ON DELETE CASCADE
);
CREATE INDEX person_grant_due ON person_grant (check_due_at);

create table person_session (
  id uuid not null,
  hash bytea not null,
  person_id uuid not null,
  issuer_session text,
  expires_at timestamptz not null,
  last_seen_at timestamptz not null default clock_timestamp(),
  created_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp()),
  constraint person_session_pkey PRIMARY KEY (id),
  constraint person_session_hash_check CHECK ((octet_length(hash) = 32)),
  constraint person_session_issuer_session_check CHECK ((char_length(issuer_session) <= 255)),
  constraint person_session_person_id_fkey FOREIGN KEY (person_id) REFERENCES person(id),
  constraint person_session_hash_key UNIQUE (hash)
);
CREATE INDEX person_session_end ON person_session (expires_at);
CREATE INDEX person_session_person ON person_session (person_id);
CREATE INDEX person_session_seen ON person_session (last_seen_at);

create table platform_message (
  connection_id uuid not null,
  meta_message_id text not null,
  message_id uuid not null,
  constraint platform_message_pkey PRIMARY KEY (connection_id, meta_message_id)
) with (autovacuum_vacuum_scale_factor=0.01, autovacuum_vacuum_insert_scale_factor=0.05);

create table platform_notification (
  id uuid not null,
  received_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp()),
  body bytea not null,
  state text not null default 'stored',
  unread jsonb,
  number_hash integer,
  user_hash integer,
  constraint platform_notification_pkey PRIMARY KEY (id),
  constraint platform_notification_state_check CHECK ((state = ANY (ARRAY['stored', 'applied', 'unmatched', 'unreadable', 'failed'])))
) with (autovacuum_vacuum_scale_factor=0.01);
CREATE INDEX platform_notification_person ON platform_notification USING brin (number_hash int4_bloom_ops (n_distinct_per_range='1000', false_positive_rate='0.005'), user_hash int4_bloom_ops (n_distinct_per_range='1000', false_positive_rate='0.005')) WITH (pages_per_range='64', autosummarize='on');
CREATE INDEX platform_notification_unnamed ON platform_notification (id) WHERE ((number_hash IS NULL) AND (user_hash IS NULL));
CREATE INDEX platform_notification_unread ON platform_notification (id) WHERE (unread IS NOT NULL);
CREATE TRIGGER platform_notification_insert AFTER INSERT ON platform_notification FOR EACH ROW WHEN ((new.state = 'stored')) EXECUTE FUNCTION platform_notification_queue();
CREATE TRIGGER platform_notification_update AFTER UPDATE ON platform_notification FOR EACH ROW WHEN ((old.state <> new.state)) EXECUTE FUNCTION platform_notification_queue();

create unlogged table rate_bucket (
  key text not null,
  tokens double precision not null,
  refilled_at timestamptz not null,
  constraint rate_bucket_pkey PRIMARY KEY (key)
) with (fillfactor=50);

create table setup_link (
  id uuid not null,
  organization_id uuid not null,
  token_hash bytea not null,
  signup text not null,
  locale text not null,
  return_url text,
  created_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp()),
  expires_at timestamptz(3) not null,
  opened_at timestamptz(3),
  completed_at timestamptz(3),
  revoked_at timestamptz(3),
  steps jsonb not null default '{}'::jsonb,
  phone_number_id text,
  waba_id text,
  access_token_ciphertext bytea,
  continuation_hash bytea,
  connection_id uuid,
  busy_until timestamptz,
  constraint setup_link_pkey PRIMARY KEY (id),
  constraint setup_link_signup_check CHECK ((signup = ANY (ARRAY['cloud', 'app', 'manual']))),
  constraint setup_link_token_hash_check CHECK ((octet_length(token_hash) = 32)),
  constraint setup_link_connection_id_fkey FOREIGN KEY (connection_id) REFERENCES connection(id),
  constraint setup_link_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id)
);
CREATE INDEX setup_link_connection ON setup_link (connection_id) WHERE (connection_id IS NOT NULL);
CREATE INDEX setup_link_list ON setup_link (organization_id, created_at DESC, id DESC);
CREATE INDEX setup_link_secret ON setup_link (expires_at) WHERE (access_token_ciphertext IS NOT NULL);
CREATE UNIQUE INDEX setup_link_token ON setup_link (token_hash);

create table template (
  id uuid not null,
  organization_id uuid not null,
  waba_id text not null,
  platform_id text not null,
  name text not null,
  language text not null,
  status text not null,
  platform_status text not null,
  category text not null,
  parameter_format text not null,
  quality text,
  rejected_reason text,
  components jsonb not null,
  message_send_ttl_seconds integer,
  touched_at timestamptz not null default '-infinity'::timestamp with time zone,
  status_at timestamptz,
  quality_at timestamptz,
  category_at timestamptz,
  announced_category text,
  announced_for timestamptz,
  deleted_at timestamptz,
  created_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp()),
  updated_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp()),
  constraint template_pkey PRIMARY KEY (id),
  constraint template_language_check CHECK (((char_length(language) >= 1) AND (char_length(language) <= 64))),
  constraint template_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 512))),
  constraint template_parameter_format_check CHECK ((parameter_format = ANY (ARRAY['POSITIONAL', 'NAMED']))),
  constraint template_status_check CHECK ((status = ANY (ARRAY['pending', 'approved', 'rejected', 'paused', 'disabled', 'in_appeal', 'pending_deletion']))),
  constraint template_of_account FOREIGN KEY (organization_id, waba_id) REFERENCES template_account(organization_id, waba_id),
  constraint template_version UNIQUE (organization_id, waba_id, name, language)
);

create table template_account (
  organization_id uuid not null,
  waba_id text not null,
  synced_at timestamptz,
  stale_since timestamptz,
  changed_at timestamptz not null default '-infinity'::timestamp with time zone,
  tried_at timestamptz,
  failures integer not null default 0,
  failure jsonb,
  sync_owner uuid,
  sync_started_at timestamptz,
  sync_until timestamptz,
  created_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp()),
  constraint template_account_pkey PRIMARY KEY (organization_id, waba_id),
  constraint template_account_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id)
) with (fillfactor=70);
CREATE INDEX template_account_waba ON template_account (waba_id);

create table usage (
  organization_id uuid not null,
  start timestamptz not null,
  connection_id uuid,
  project_id uuid,
  submitted integer,
  accepted integer,
  sent integer,
  delivered integer,
  read integer,
  failed integer,
  outcome_unknown integer,
  received integer,
  verified integer,
  expired integer,
  d0 integer,
  d1 integer,
  d2 integer,
  d3 integer,
  d4 integer,
  d5 integer,
  d6 integer,
  d7 integer,
  d8 integer,
  d9 integer,
  d10 integer,
  d11 integer,
  d12 integer,
  d13 integer,
  d14 integer,
  d15 integer,
  billable boolean,
  type text,
  source text,
  country text,
  category text,
  template text,
  pricing_type text,
  failure_category text,
  constraint usage_check CHECK ((num_nonnulls(connection_id, project_id) = 1)),
  constraint usage_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id)
);
CREATE INDEX usage_start ON usage (start);
CREATE INDEX usage_workspace ON usage (organization_id, start);

create table usage_due (
  start timestamptz not null,
  at timestamptz,
  counted_at timestamptz
) with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=2000);
CREATE INDEX usage_due_at ON usage_due (at);
CREATE INDEX usage_due_start ON usage_due (start);

create table usage_rate (
  countries text[] not null,
  category text not null,
  tier_from integer not null,
  price numeric(14,6) not null,
  currency text not null,
  valid_from date not null,
  constraint usage_rate_countries_check CHECK ((cardinality(countries) > 0)),
  constraint usage_rate_currency_check CHECK ((currency ~ '^[A-Z]{3}$')),
  constraint usage_rate_price_check CHECK ((price >= (0)::numeric)),
  constraint usage_rate_tier_from_check CHECK ((tier_from >= 1))
);

create table webhook_delivery (
  id uuid not null,
  organization_id uuid not null,
  endpoint_id uuid not null,
  event_id uuid not null,
  event_type text not null,
  attempt integer not null,
  status text not null,
  http_status integer,
  error text,
  duration_ms integer,
  next_attempt_at timestamptz,
  created_at timestamptz(3) not null,
  constraint webhook_delivery_pkey PRIMARY KEY (id),
  constraint webhook_delivery_status_check CHECK ((status = ANY (ARRAY['succeeded', 'failed'])))
) partition by RANGE (id);
CREATE INDEX webhook_delivery_event ON webhook_delivery (event_id);
CREATE INDEX webhook_delivery_list ON webhook_delivery (endpoint_id, event_type, status, created_at DESC, id DESC);

create table webhook_endpoint (
  id uuid not null,
  organization_id uuid not null,
  url text not null,
  events text[] not null,
  connection_ids uuid[] not null default '{}'::uuid[],
  header_names text[] not null default '{}'::text[],
  headers_ciphertext bytea,
  active boolean not null,
  revision integer not null default 1,
  disabled_reason text,
  inactive_since timestamptz(3),
  failing_since timestamptz(3),
  last_failure_at timestamptz(3),
  deleted_at timestamptz(3),
  created_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp()),
  updated_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp()),
  constraint webhook_endpoint_pkey PRIMARY KEY (id),
  constraint webhook_endpoint_disabled_reason_check CHECK ((disabled_reason = ANY (ARRAY['gone', 'failing']))),
  constraint webhook_endpoint_events_check CHECK ((cardinality(events) > 0)),
  constraint webhook_endpoint_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id)
) with (fillfactor=80);
CREATE INDEX webhook_endpoint_inactive ON webhook_endpoint (inactive_since) WHERE (inactive_since IS NOT NULL);
CREATE UNIQUE INDEX webhook_endpoint_organization ON webhook_endpoint (organization_id) WHERE (deleted_at IS NULL);
CREATE TRIGGER webhook_endpoint_recording AFTER INSERT OR UPDATE OF deleted_at ON webhook_endpoint FOR EACH ROW EXECUTE FUNCTION record_events_of_endpoint();

create table webhook_event (
  id uuid not null default uuid_v7(),
  organization_id uuid not null,
  endpoint_id uuid,
  type text not null,
  data jsonb not null,
  occurred_at timestamptz(3) not null,
  trace_context bytea,
  transaction_id xid8 not null default pg_current_xact_id(),
  constraint webhook_event_pkey PRIMARY KEY (id)
) with (autovacuum_vacuum_scale_factor=0.01, autovacuum_vacuum_insert_scale_factor=0.05);
CREATE INDEX webhook_event_order ON webhook_event (organization_id, transaction_id, id);
CREATE INDEX webhook_event_subject ON webhook_event (COALESCE(((data -> 'media') ->> 'id'), (data ->> 'message_id'), ((data -> 'message') ->> 'id'), ((data -> 'contact') ->> 'phone'), ((data -> 'contact') ->> 'user_id')));

create table webhook_queue (
  event_id uuid not null,
  organization_id uuid not null,
  endpoint_id uuid not null,
  due_at timestamptz not null default clock_timestamp(),
  attempt_id uuid,
  attempt_count integer not null default 0,
  tries integer not null default 0,
  constraint webhook_queue_pkey PRIMARY KEY (event_id)
) with (fillfactor=70, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=2000);
CREATE INDEX webhook_queue_due ON webhook_queue (endpoint_id, due_at);

create table webhook_replay (
  id uuid not null,
  organization_id uuid not null,
  endpoint_id uuid not null,
  only_failed boolean not null,
  total integer not null,
  done integer not null default 0,
  created_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp()),
  finished_at timestamptz(3),
  constraint webhook_replay_pkey PRIMARY KEY (id),
  constraint webhook_replay_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES webhook_endpoint(id) ON DELETE CASCADE,
  constraint webhook_replay_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id)
);
CREATE INDEX webhook_replay_of_endpoint ON webhook_replay (endpoint_id);
CREATE UNIQUE INDEX webhook_replay_running ON webhook_replay (endpoint_id) WHERE (finished_at IS NULL);

create table webhook_replay_event (
  replay_id uuid not null,
  organization_id uuid not null,
  event_id uuid not null,
  constraint webhook_replay_event_pkey PRIMARY KEY (replay_id, event_id),
  constraint webhook_replay_event_replay_id_fkey FOREIGN KEY (replay_id) REFERENCES webhook_replay(id) ON DELETE CASCADE
);

create table webhook_secret (
  id uuid not null,
  organization_id uuid not null,
  endpoint_id uuid not null,
  ciphertext bytea not null,
  hint text not null,
  expires_at timestamptz(3),
  created_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp()),
  constraint webhook_secret_pkey PRIMARY KEY (id),
  constraint webhook_secret_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES webhook_endpoint(id) ON DELETE CASCADE,
  constraint webhook_secret_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id)
);
CREATE UNIQUE INDEX webhook_secret_current ON webhook_secret (endpoint_id) WHERE (expires_at IS NULL);
CREATE INDEX webhook_secret_endpoint ON webhook_secret (endpoint_id, created_at DESC);

create table worker (
  id uuid not null,
  alive_until timestamptz not null,
  constraint worker_pkey PRIMARY KEY (id)
) with (fillfactor=50, autovacuum_vacuum_scale_factor=0.01);

create view message_attempt_view as
SELECT a.message_id,
    a.id,
    a.organization_id,
    a.number,
    a.started_at,
        CASE
            WHEN a.answer = 'accepted' OR a.taken_at IS NOT NULL THEN 'accepted'
            WHEN a.answer = 'rejected' OR a.failed_at IS NOT NULL THEN 'rejected'
            WHEN a.answer = 'deferred' THEN 'deferred'
            WHEN a.answer = 'unknown' OR a.lease_ended_at IS NOT NULL THEN 'unknown'
            ELSE 'started'
        END AS status,
        CASE
            WHEN a.answer = ANY (ARRAY['accepted', 'rejected']) THEN a.answered_at
            ELSE LEAST(a.answered_at, a.lease_ended_at, a.taken_at, a.failed_at)
        END AS finished_at,
    a.http_status,
        CASE
            WHEN num_nonnulls(a.failed_code, a.failed_text) > 0 THEN a.failed_code
            ELSE a.code
        END AS platform_code,
        CASE
            WHEN num_nonnulls(a.failed_code, a.failed_text) > 0 THEN a.failed_text
            ELSE a.text
        END AS platform_message,
    COALESCE(a.failed_category,
        CASE
            WHEN a.answer = 'rejected' OR a.taken_at IS NULL THEN a.category
            ELSE NULL
        END) AS failure_category,
    a.meta_message_id,
    a.trace_id
   FROM message_attempt a
UNION ALL
 SELECT q.message_id,
    q.attempt_id AS id,
    q.organization_id,
    q.attempt_number AS number,
    q.claimed_at AS started_at,
    'started' AS status,
    NULL::timestamp with time zone AS finished_at,
    NULL::integer AS http_status,
    NULL::integer AS platform_code,
    NULL AS platform_message,
    NULL AS failure_category,
    NULL AS meta_message_id,
    NULL AS trace_id
   FROM message_queue q
  WHERE q.attempt_id IS NOT NULL AND NOT (EXISTS ( SELECT
           FROM message_attempt a
          WHERE a.message_id = q.message_id AND a.id = q.attempt_id));

create view message_view as
SELECT m.id,
    m.organization_id,
    m.connection_id,
    m.conversation_id,
    m.direction,
    m.type,
    m.recipient,
    m.recipient_user_id,
    m.sender,
    m.client_message_id,
    m.fingerprint,
    m.reply_to_message_id,
    m.media_object_id,
    m.created_at,
    c.body,
    COALESCE(c.content, '{}'::jsonb) AS content,
    c.inbound_context,
        CASE
            WHEN m.direction = 'inbound' THEN 'received'
            WHEN q.attempt_id IS NOT NULL THEN 'processing'
            ELSE s.status
        END AS status,
        CASE
            WHEN m.direction = 'inbound' THEN m.meta_message_id
            ELSE s.meta_message_id
        END AS meta_message_id,
    s.failure_category,
    s.error_code,
    s.error_message,
    COALESCE(q.attempt_number, s.attempt_count, 0) AS attempt_count,
    COALESCE(s.event_count, 1) AS event_count,
    COALESCE(q.attempt_id, s.attempt_id) AS current_attempt_id,
    q.lease_until,
    q.seq,
    q.tries,
        CASE
            WHEN q.attempt_id IS NULL AND q.held_until IS NULL THEN COALESCE(q.due_at, q.queued_at)
            ELSE NULL::timestamp with time zone
        END AS next_attempt_at,
    COALESCE(q.queued_at, s.queued_at) AS queued_at,
    COALESCE(q.claimed_at, s.processing_at) AS processing_at,
    s.accepted_at,
        CASE
            WHEN m.direction = 'inbound' THEN m.sent_at
            ELSE s.sent_at
        END AS sent_at,
    s.delivered_at,
    s.read_at,
    s.failed_at,
    q.scheduled_for,
    q.expires_at
   FROM message m
     LEFT JOIN message_queue q ON q.message_id = m.id AND m.direction = 'outbound'
     LEFT JOIN message_state s ON s.message_id = m.id
     LEFT JOIN message_content c ON c.message_id = m.id;

create view webhook_event_view as
SELECT v.id,
    v.organization_id,
    v.endpoint_id,
    v.type,
    v.data,
    v.occurred_at,
    v.trace_context,
    v.transaction_id,
        CASE
            WHEN q.event_id IS NOT NULL THEN 'pending'
            WHEN v.endpoint_id IS NULL THEN 'recorded'
            WHEN (EXISTS ( SELECT
               FROM webhook_delivery d
              WHERE d.event_id = v.id AND d.status = 'succeeded' AND d.id >= (("left"(v.id, 13) || '-7000-8000-000000000000')::uuid))) THEN 'delivered'
            WHEN (EXISTS ( SELECT
               FROM webhook_endpoint e
              WHERE e.id = v.endpoint_id AND e.deleted_at IS NULL)) THEN 'exhausted'
            ELSE 'recorded'
        END AS status,
    q.due_at,
    q.attempt_id,
    q.attempt_count,
    q.tries
   FROM webhook_event v
     LEFT JOIN webhook_queue q ON q.event_id = v.id;

CREATE OR REPLACE FUNCTION audit_event_guard()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op = 'UPDATE' and new.address is null and new.details is null
    and to_jsonb(new) - 'address' - 'details' = to_jsonb(old) - 'address' - 'details'
    and not exists (select from organization where id = old.organization_id) then
    return new;
  end if;
  if tg_op = 'UPDATE' and new.transaction_id = pg_current_xact_id()
    and to_jsonb(new) - 'transaction_id' = to_jsonb(old) - 'transaction_id' then
    return new;
  end if;
  if tg_op = 'DELETE' and old.occurred_at < clock_timestamp() - interval '30 days' then
    return old;
  end if;
  raise exception 'audit_event is append-only: % is refused', lower(tg_op) using errcode = '23001';
end $function$;
CREATE OR REPLACE FUNCTION conversation_assignee_alone()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  new.assignee_id := null;
  return new;
end $function$;
CREATE OR REPLACE FUNCTION identity_of_database()
 RETURNS text
 LANGUAGE plpgsql
 STABLE
AS $function$
declare
  cluster text := '-';
  timeline text := '-';
begin
  begin
    cluster := (pg_control_system()).system_identifier;
  exception when others then
    if sqlstate ~ '^(5[3478]|XX)' then raise; end if;
  end;
  begin
    timeline := case when pg_is_in_recovery() then lpad(upper(to_hex((pg_control_checkpoint()).timeline_id)), 8, '0')
      else substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) end;
  exception when others then
    if sqlstate ~ '^(5[3478]|XX)' then raise; end if;
  end;
  return cluster || '/' || timeline || '/' || (select oid from pg_database where datname = current_database());
end $function$;
CREATE OR REPLACE FUNCTION limit_give_back(messages uuid[], only_retries boolean)
 RETURNS void
 LANGUAGE sql
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
 SET jit TO 'off'
AS $function$
  with taken as materialized (
    select r, r.* from limit_reservation r
    where r.message_id = any(messages) and not r.given_back and not (only_retries and r.earlier is null)
    order by r.message_id for update
  ), given as (
    update limit_reservation l set given_back = true, counts = e.counts, earlier = null, day = e.day, week = e.week,
      month = e.month, amount = e.amount, billed = e.billed, failed = e.failed
    from taken t, jsonb_populate_record(t.r, coalesce(t.earlier, '{"counts": false}')) as e
    where l.message_id = t.message_id
    returning t.organization_id, t.day, t.week, t.recipient, t.month, case when t.failed then 0 else t.amount end as amount
  )
  insert into limit_correction (organization_id, kind, recipient, period, amount)
  select organization_id, 'messages_per_day', '', day, -count(*) from given where day is not null
  group by organization_id, day
  union all
  select organization_id, 'marketing_per_recipient_per_week', recipient, week, -count(*) from given
  where week is not null and recipient is not null group by organization_id, week, recipient
  union all
  select organization_id, 'spend_per_month', '', month, -sum(amount) from given where month is not null
  group by organization_id, month having sum(amount) <> 0
$function$;
CREATE OR REPLACE FUNCTION limit_release()
 RETURNS trigger
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
 SET jit TO 'off'
AS $function$
declare
  unsent uuid[] := array(
    select message_id from entered where status = 'failed' and accepted_at is null and sent_at is null);
begin
  if unsent <> '{}' then
    perform limit_give_back(unsent, false);
  end if;
  return null;
end $function$;
CREATE OR REPLACE FUNCTION media_usage_delete()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into media_usage as u (organization_id, used_bytes)
  select organization_id, sum(bytes) from (select organization_id, storage_key, -size_bytes as bytes from removed) as c
  where storage_key is not null group by organization_id having sum(bytes) > 0 order by organization_id
  on conflict (organization_id) do update set used_bytes = u.used_bytes + excluded.used_bytes;
  update media_usage u set used_bytes = greatest(u.used_bytes + freed.bytes, 0)
  from (
    select organization_id, sum(bytes) as bytes from (select organization_id, storage_key, -size_bytes as bytes from removed) as c
    where storage_key is not null group by organization_id having sum(bytes) < 0) as freed
  where u.organization_id = freed.organization_id;
  return null;
end $function$;
CREATE OR REPLACE FUNCTION media_usage_insert()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into media_usage as u (organization_id, used_bytes)
  select organization_id, sum(bytes) from (select organization_id, storage_key, size_bytes as bytes from added) as c
  where storage_key is not null group by organization_id having sum(bytes) > 0 order by organization_id
  on conflict (organization_id) do update set used_bytes = u.used_bytes + excluded.used_bytes;
  update media_usage u set used_bytes = greatest(u.used_bytes + freed.bytes, 0)
  from (
    select organization_id, sum(bytes) as bytes from (select organization_id, storage_key, size_bytes as bytes from added) as c
    where storage_key is not null group by organization_id having sum(bytes) < 0) as freed
  where u.organization_id = freed.organization_id;
  return null;
end $function$;
CREATE OR REPLACE FUNCTION media_usage_update()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into media_usage as u (organization_id, used_bytes)
  select organization_id, sum(bytes) from (select organization_id, storage_key, size_bytes as bytes from added union all select organization_id, storage_key, -size_bytes as bytes from removed) as c
  where storage_key is not null group by organization_id having sum(bytes) > 0 order by organization_id
  on conflict (organization_id) do update set used_bytes = u.used_bytes + excluded.used_bytes;
  update media_usage u set used_bytes = greatest(u.used_bytes + freed.bytes, 0)
  from (
    select organization_id, sum(bytes) as bytes from (select organization_id, storage_key, size_bytes as bytes from added union all select organization_id, storage_key, -size_bytes as bytes from removed) as c
    where storage_key is not null group by organization_id having sum(bytes) < 0) as freed
  where u.organization_id = freed.organization_id;
  return null;
end $function$;
CREATE OR REPLACE FUNCTION message_queue_delete()
 RETURNS trigger
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET jit TO 'off'
AS $function$
declare missed boolean;
begin
  loop
    with next as materialized (
      select n.* from (
        select distinct connection_id, recipient from gone where held_until is null and num_nonnulls(attempt_id, due_at) = 1) as freed
      cross join lateral (
        select n.ctid as place, n.due_at, n.message_id || n.recipient as key from message_queue n
        where n.connection_id = freed.connection_id and n.recipient = freed.recipient and n.held_until is null
          and (n.attempt_id is null)
        order by n.connection_id, n.recipient, (n.attempt_id is null), n.seq limit 1) as n
    ), moved as (
      update message_queue q set due_at = greatest(clock_timestamp(), q.not_before)
      where q.ctid = any(array(select place from next where due_at is null)) and num_nulls(q.attempt_id, q.held_until) = 2 and q.due_at is null
        and q.message_id || q.recipient = any(array(select key from next)) returning 1
    ), kept as materialized (
      select from message_queue q
      where q.ctid = any(array(select place from next where due_at is not null)) and num_nulls(q.attempt_id, q.held_until) = 2 and num_nonnulls(q.due_at) = 1
        and q.message_id || q.recipient = any(array(select key from next))
      for key share
    )
    select (select count(*) from next) > (select count(*) from moved) + (select count(*) from kept) into missed;
    exit when not missed;
  end loop;
  return null;
end $function$;
CREATE OR REPLACE FUNCTION message_queue_enter()
 RETURNS trigger
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET jit TO 'off'
AS $function$
begin
  if new.attempt_id is not null or new.held_until is not null then
    new.due_at := null;
    return new;
  end if;
  new.due_at := case when (select true from message_queue e
    where e.connection_id = new.connection_id and e.recipient = new.recipient and e.held_until is null
      and (e.attempt_id is not null or e.seq < new.seq)
    order by e.connection_id desc, e.recipient desc, (e.attempt_id is null) desc, e.seq desc limit 1
    for key share skip locked) then null else coalesce(new.due_at, new.queued_at) end;
  return new;
end $function$;
CREATE OR REPLACE FUNCTION message_queue_release()
 RETURNS trigger
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET jit TO 'off'
AS $function$
declare
  first record;
  comes_back boolean := old.attempt_id is not null and new.attempt_id is null;
begin
  loop
    select n.ctid as place, n.message_id, n.due_at into first from message_queue n
    where n.connection_id = old.connection_id and n.recipient = old.recipient and n.held_until is null
      and (n.attempt_id is null)
    order by n.connection_id, n.recipient, (n.attempt_id is null), n.seq limit 1;
    exit when first.place is null or (first.due_at is not null and comes_back);
    if first.due_at is null then
      update message_queue q set due_at = greatest(clock_timestamp(), q.not_before)
      where q.ctid = first.place and num_nulls(q.attempt_id, q.held_until) = 2 and q.recipient = old.recipient and q.due_at is null;
    else
      perform from message_queue q
      where q.ctid = first.place and num_nulls(q.attempt_id, q.held_until) = 2 and q.recipient = old.recipient and num_nonnulls(q.due_at) = 1 for key share;
    end if;
    exit when found;
  end loop;
  if comes_back and first.message_id = new.message_id and new.due_at > clock_timestamp() then
    with behind as materialized (
      select n.ctid as place from message_queue n
      where n.connection_id = new.connection_id and n.recipient = new.recipient and n.held_until is null
        and (n.attempt_id is null) and n.seq > new.seq
      order by n.connection_id, n.recipient, (n.attempt_id is null), n.seq limit 2 for no key update skip locked
    )
    update message_queue q set due_at = null
    where q.ctid = any(array(select place from behind)) and num_nulls(q.attempt_id) = 1 and num_nonnulls(q.due_at) = 1;
  end if;
  return null;
end $function$;
CREATE OR REPLACE FUNCTION platform_notification_queue()
 RETURNS trigger
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
AS $function$
begin
  if new.state = 'stored' then
    insert into notification_queue (notification_id) values (new.id) on conflict do nothing;
  else
    delete from notification_queue where notification_id = new.id;
  end if;
  return null;
end $function$;
CREATE OR REPLACE FUNCTION record_events_of_endpoint()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into event_recording (organization_id) values (new.organization_id)
  on conflict (organization_id) do update set read_at = clock_timestamp();
  return null;
end $function$;
CREATE OR REPLACE FUNCTION search_name(name text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$
  select left(btrim(regexp_replace(translate(replace(replace(replace(
    regexp_replace(lower(normalize(name, NFKD) collate "und-x-icu"), '[\u0300-\u036f]', '', 'g'),
    'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'), 'øłđðı', 'olddi') collate "und-x-icu", '[^[:alnum:]]+', ' ', 'g')), 60)
$function$;
CREATE OR REPLACE FUNCTION uuid_v7()
 RETURNS uuid
 LANGUAGE sql
 PARALLEL SAFE
AS $function$
  select (overlay(lpad(to_hex(floor(extract(epoch from clock_timestamp()) * 4096000)::bigint), 15, '0')
    placing '7' from 13 for 0) || substr(gen_random_uuid(), 20))::uuid
$function$;
