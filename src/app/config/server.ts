import { z } from 'zod'
import { configuredAuthority } from '../../doors/http/server/authority.ts'
import { configuredOrigin } from '../../doors/http/server/browser-rules.ts'
import { instanceNameProblem } from '../../model/instance-name.ts'
import { parseAddress } from './bind-address.ts'
import { configField, live } from './field.ts'

/** Text that a component parses at startup, validated here so that the error names its key. */
const readableBy = (read: (text: string) => unknown, what: string) =>
  z.string().refine(
    (text) => {
      try {
        return read(text) !== undefined
      } catch {
        return false
      }
    },
    { error: `expected ${what}` },
  )

const address = () => readableBy(parseAddress, 'host:port, [ipv6]:port or unix:/path')

const file = () => z.string().min(1).optional()

const tls = z
  .strictObject({
    cert_file: live(file(), 'Certificate chain in PEM; with it and key_file, both addresses speak TLS.', {
      otherwise: 'no TLS',
      holdsPath: true,
    }),
    key_file: live(file(), 'Private key of the certificate, in PEM.', { otherwise: 'no TLS', holdsPath: true }),
    client_ca_file: live(file(), 'Certificates in PEM; callers must then show one that they signed (mutual TLS).', {
      otherwise: 'callers need no certificate',
      holdsPath: true,
    }),
  })
  .prefault({})
  .superRefine(({ cert_file, key_file, client_ca_file }, context) => {
    if ((cert_file === undefined) !== (key_file === undefined)) {
      context.addIssue({ code: 'custom', message: 'cert_file and key_file go together: set both or none' })
    } else if (client_ca_file !== undefined && cert_file === undefined) {
      context.addIssue({ code: 'custom', message: 'client_ca_file needs cert_file and key_file' })
    }
  })

/** Not optional as a whole: the location of data depends on the machine, and the loader sets it. */
export const server = z.strictObject({
  address: configField(
    address().default('127.0.0.1:8980'),
    'Where gRPC is served: host:port, [ipv6]:port or unix:/path; port 0 takes a free one.',
    { flag: '--grpc', holdsPath: true },
  ),
  http_address: configField(address().default('127.0.0.1:8080'), 'Where HTTP is served, written in the same way.', {
    flag: '--http',
    holdsPath: true,
  }),
  start_without_journal: configField(
    z.boolean().default(false),
    'Start with a new journal where the old one is missing or empty, and forget the tasks that it held.',
    { flag: '--start-without-journal' },
  ),
  insecure: configField(
    z.boolean().default(false),
    'Allow addresses that other machines can reach although callers are not authenticated.',
    { flag: '--insecure' },
  ),
  data_dir: configField(z.string().min(1), 'Directory for everything the server keeps.', {
    otherwise: '$XDG_DATA_HOME/windlass, or ~/.local/share/windlass',
    flag: '--data',
    holdsPath: true,
  }),
  drain_seconds: live(
    z.number().min(0).max(86_400).default(30),
    'How long a stopping server lets the calls in hand finish.',
  ),
  instance_name: configField(
    z
      .string()
      .default('')
      .superRefine((name, context) => {
        const problem = name === '' ? undefined : instanceNameProblem(name)
        if (problem !== undefined) context.addIssue({ code: 'custom', message: problem })
      }),
    'The instance that callers get when they name none: both names stand for the same cache and quotas.',
  ),
  tls,
})

export const http = z
  .strictObject({
    health_address: configField(
      address().optional(),
      'A further address for /healthz and /readyz alone, without TLS, for probes that have no client certificate.',
      { otherwise: 'probes use http_address', holdsPath: true },
    ),
    allowed_hosts: live(
      z.array(readableBy(configuredAuthority, 'a host name with an optional port')).default([]),
      'Host names that requests may be addressed to, beside loopback names and the address listened on.',
    ),
    allowed_origins: live(
      z.array(readableBy(configuredOrigin, 'an origin such as https://ci.example.com')).default([]),
      'Origins whose web pages may call the server, such as "https://ci.example.com".',
    ),
  })
  .prefault({})
