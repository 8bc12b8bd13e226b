import { highestPrice } from '../usage/usage.types.js';

const IS_FREE = `coalesce(r.billable is false or r.billable is null and r.pricing_type like 'free%', false)`;

/**
 * $1: messages whose last retry was not sent, because an earlier attempt was accepted. Gives back what the retry used.
 */
export const GIVE_BACK_RETRIES = 'select limit_give_back($1::uuid[], true)';

/**
 * SQL of CTEs that correct the costs of messages after reports: the actual price once it is known, nothing while a
 * message is failed, and again the costs of a message that was sent after all. They wait for no lock of a workspace.
 *
 * @param reports a relation with `id`, `status` after the reports, and `billable`, `pricing_category` and
 * `pricing_type` where these are new.
 */
export const correctCosts = (reports: string): string => `cost as materialized (
  select l.message_id, l.country, l.amount, l.failed, l.counts, r.status = 'failed' as fails,
    l.counts or r.status not in ('failed', 'queued') as will_count,
    l.month is not null and not l.billed and (${IS_FREE} or r.pricing_category is not null) as is_priced,
    case when not ${IS_FREE} then r.pricing_category end as category
  from ${reports} r join limit_reservation l on l.message_id = r.id where l.month is not null or not l.counts
), price as materialized (
  select category, country, ${highestPrice('k.category', 'k.country', false)} as price
  from (select distinct category, country from cost where is_priced and category is not null) as k
), costed as (
  update limit_reservation l set failed = c.fails, counts = c.will_count, billed = l.billed or c.is_priced,
    amount = case when c.is_priced then coalesce(p.price, 0) else l.amount end
  from cost c left join price p on p.category = c.category and p.country is not distinct from c.country
  where l.message_id = c.message_id and (c.is_priced or c.fails <> c.failed or c.will_count <> c.counts)
  returning l.organization_id, l.day, l.week, l.recipient, l.month, l.counts and not c.counts as is_back,
    case when l.failed or not l.counts then 0 else l.amount end - case when c.failed or not c.counts then 0 else c.amount end as amount
), corrected as (
  insert into limit_correction (organization_id, kind, recipient, period, amount)
  select organization_id, 'spend_per_month', '', month, sum(amount) from costed where month is not null
  group by organization_id, month having sum(amount) <> 0
  union all
  select organization_id, 'messages_per_day', '', day, count(*) from costed where is_back and day is not null
  group by organization_id, day
  union all
  select organization_id, 'marketing_per_recipient_per_week', recipient, week, count(*) from costed
  where is_back and week is not null and recipient is not null group by organization_id, week, recipient
)`;
