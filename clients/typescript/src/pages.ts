interface Page<Item> {
  data: Item[];
  pagination: { next_before: string | null; next_before_id: string | null };
}

interface Place {
  before?: string;
  before_id?: string;
}

/**
 * Every item of a list, newest first, one request a page. Stop when you have enough: no further page is read.
 *
 * @param read one page from a place on; the first from the beginning
 */
export async function* everyItem<Item>(read: (place: Place) => Promise<Page<Item>>): AsyncGenerator<Item, void> {
  let place: Place = {};
  for (;;) {
    const { data, pagination } = await read(place);
    yield* data;
    const { next_before: before, next_before_id: before_id } = pagination;
    if (before === null || before_id === null) return;
    place = { before, before_id };
  }
}
