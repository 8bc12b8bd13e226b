const HEADER = 'X-Herald-Read-After';
/** Marks that begin alike are of one database; the greater one is the later. */
const DATABASE_LENGTH = 8;

/** Lets the reads of a caller find what it has written, also where Herald answers them from a standby. */
export class OwnWrites {
  private mark: string | null = null;

  /** @param request it gets the mark of what was written last, where it reads */
  sending(request: Request): void {
    if (this.mark !== null && ['GET', 'HEAD'].includes(request.method)) request.headers.set(HEADER, this.mark);
  }

  answered(response: Response): void {
    const mark = response.headers.get(HEADER);
    if (mark === null) return;
    // Answers to two writes at once may come in any order.
    const known = this.mark ?? '';
    const isOfSame = known.slice(0, DATABASE_LENGTH) === mark.slice(0, DATABASE_LENGTH);
    this.mark = isOfSame && known > mark ? known : mark;
  }
}
