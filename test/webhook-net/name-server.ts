import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';

export type RecordType = 'A' | 'AAAA' | 'CNAME';

export interface DnsRecord {
  readonly name: string;
  readonly type: RecordType;
  readonly value: string;
  readonly ttl?: number;
}

/** Records, a code (3: no such name, 2: server failure, 5: refused), or not a word. */
export type DnsReply = readonly DnsRecord[] | number | 'silence';

const TYPES: Readonly<Record<RecordType, number>> = { A: 1, CNAME: 5, AAAA: 28 };

/** A name server on 127.0.0.1 (UDP) with configured answers. */
export class NameServer {
  /** `A example.com`, in the order of arrival. */
  readonly questions: string[] = [];

  private readonly unanswered: { message: Buffer; from: RemoteInfo }[] = [];

  private constructor(private readonly socket: Socket) {}

  static async start(reply: (name: string, type: RecordType) => DnsReply): Promise<NameServer> {
    const socket = createSocket('udp4');
    const server = new NameServer(socket);
    socket.on('message', (message, from) => void server.answer(message, from, reply));
    await new Promise<void>((resolve) => {
      socket.bind(0, '127.0.0.1', resolve);
    });
    return server;
  }

  /** For `Resolver.setServers`. */
  get address(): string {
    return `127.0.0.1:${this.socket.address().port}`;
  }

  /** Refuses what it never answered, so that who asked does not wait for that any longer. */
  async stop(): Promise<void> {
    await Promise.all(this.unanswered.map(({ message, from }) => this.answer(message, from, () => 5)));
    await new Promise<void>((resolve) => {
      this.socket.close(() => resolve());
    });
  }

  private answer(
    message: Buffer,
    from: RemoteInfo,
    reply: (name: string, type: RecordType) => DnsReply,
  ): Promise<void> {
    const { name, end } = readName(message, 12);
    const number = message.readUInt16BE(end);
    const type = (Object.entries(TYPES).find(([, value]) => value === number)?.[0] ?? 'A') as RecordType;
    this.questions.push(`${type} ${name}`);
    const said = reply(name.toLowerCase(), type);
    if (said === 'silence') {
      this.unanswered.push({ message, from });
      return Promise.resolve();
    }
    const records = typeof said === 'number' ? [] : said;
    const head = Buffer.alloc(12);
    message.copy(head, 0, 0, 2);
    head.writeUInt16BE(0x8180 | (typeof said === 'number' ? said : 0), 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(records.length, 6);
    const answer = Buffer.concat([head, message.subarray(12, end + 4), ...records.map(recordOf)]);
    return new Promise((resolve) => {
      this.socket.send(answer, from.port, from.address, () => resolve());
    });
  }
}

function recordOf({ name, type, value, ttl = 300 }: DnsRecord): Buffer {
  const data = type === 'CNAME' ? nameOf(value) : addressOf(value);
  const fixed = Buffer.alloc(10);
  fixed.writeUInt16BE(TYPES[type], 0);
  fixed.writeUInt16BE(1, 2);
  fixed.writeUInt32BE(ttl, 4);
  fixed.writeUInt16BE(data.length, 8);
  return Buffer.concat([nameOf(name), fixed, data]);
}

function nameOf(name: string): Buffer {
  const labels = name.split('.').map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)]));
  return Buffer.concat([...labels, Buffer.from([0])]);
}

/** IPv4, or IPv6 with at most one `::` and no dots. */
function addressOf(text: string): Buffer {
  if (!text.includes(':')) {
    return Buffer.from(text.split('.').map(Number));
  }
  const [head = [], tail = []] = text.split('::').map((side) => side.split(':').filter((word) => word !== ''));
  const words = text.includes('::')
    ? [...head, ...Array<string>(8 - head.length - tail.length).fill('0'), ...tail]
    : head;
  return Buffer.from(words.map((word) => word.padStart(4, '0')).join(''), 'hex');
}

function readName(message: Buffer, start: number): { name: string; end: number } {
  const labels: string[] = [];
  let at = start;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.'), end: at + 1 };
}
