import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { BackLink, Button } from './controls.tsx';
import { CopyButton, Empty } from './ui.tsx';

interface BarProps {
  title: string;
  /** The call that reads what is below; null: none is made. */
  curl: string | null;
  /** Of a list beside its detail; else of a page. */
  inPane?: boolean;
  /** Buttons. */
  children?: ReactNode;
}

export function Bar({ title, curl, inPane = false, children }: BarProps) {
  return (
    <header className={inPane ? 'panel-bar' : 'row'}>
      <h1>{title}</h1>
      <span className="grow" />
      {curl !== null && <CopyButton quiet label="curl" text={curl} />}
      {children}
    </header>
  );
}

/** A row of a list that opens the detail beside it. */
export function PaneRow({ href, isSelected, children }: { href: string; isSelected: boolean; children: ReactNode }) {
  return (
    <Link href={href} className="pane-row" aria-current={isSelected ? 'true' : undefined}>
      {children}
    </Link>
  );
}

interface DetailBarProps {
  /** Null: the list is not there. */
  back: string | null;
  name: string;
  /** Below the name. */
  note?: string | null;
  id?: string;
  curl?: string;
}

export function DetailBar({ back, name, note = null, id, curl }: DetailBarProps) {
  return (
    <header className="panel-bar">
      {back !== null && <BackLink href={back} />}
      <span className="detail-name">
        <bdi>{name}</bdi>
        {note !== null && <small>{note}</small>}
      </span>
      <span className="grow" />
      {id !== undefined && <CopyButton quiet label="id" text={id} />}
      {curl !== undefined && <CopyButton quiet label="curl" text={curl} />}
    </header>
  );
}

/** Where the detail is going to be; `isShown` false: there is nothing to choose. */
export function Place({ title, says, isShown = true }: { title: string; says: string; isShown?: boolean }) {
  return <section className="pane-detail pane-place">{isShown && <Empty title={title} says={says} />}</section>;
}

interface MoreProps {
  list: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown };
  label?: string;
}

/** The next page of a list, where there is one. */
export function More({ list, label = 'Show earlier ones' }: MoreProps) {
  if (!list.hasNextPage) return null;
  const { isFetchingNextPage: isReading, fetchNextPage: read } = list;
  return <Button className="more" icon="down" label={label} disabled={isReading} onClick={() => void read()} />;
}
