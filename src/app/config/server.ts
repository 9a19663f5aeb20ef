import { z } from 'zod'
import { configuredAuthority, configuredOrigin } from '../../doors/http/server/browser-rules.ts'
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
    cert_file: live(file(), 'Certificate chain in PEM. With cert_file and key_file, both addresses use TLS.', {
      otherwise: 'no TLS',
      holdsPath: true,
    }),
    key_file: live(file(), 'Private key of the certificate, in PEM.', { otherwise: 'no TLS', holdsPath: true }),
    client_ca_file: live(
      file(),
      'CA certificates in PEM. If set, clients need a certificate that one of these CAs signed (mutual TLS).',
      {
        otherwise: 'clients need no certificate',
        holdsPath: true,
      },
    ),
  })
  .prefault({})
  .superRefine(({ cert_file, key_file, client_ca_file }, context) => {
    if ((cert_file === undefined) !== (key_file === undefined)) {
      context.addIssue({ code: 'custom', message: 'cert_file and key_file must be set together' })
    } else if (client_ca_file !== undefined && cert_file === undefined) {
      context.addIssue({ code: 'custom', message: 'client_ca_file needs cert_file and key_file' })
    }
  })

/** Not optional as a whole: the default data directory depends on the machine, so the loader sets it. */
export const server = z.strictObject({
  address: configField(
    address().default('127.0.0.1:8980'),
    'Listen address for gRPC: host:port, [ipv6]:port or unix:/path. Port 0 selects a free port.',
    { flag: '--grpc', holdsPath: true },
  ),
  http_address: configField(
    address().default('127.0.0.1:8080'),
    'Listen address for HTTP: host:port, [ipv6]:port or unix:/path. Port 0 selects a free port.',
    {
      flag: '--http',
      holdsPath: true,
    },
  ),
  start_without_journal: configField(
    z.boolean().default(false),
    'If true and the journal is missing or empty, start with a new journal. The tasks of the old journal are lost.',
    { flag: '--start-without-journal' },
  ),
  insecure: configField(
    z.boolean().default(false),
    'If true, the server may listen on addresses that other machines can reach, without authentication.',
    { flag: '--insecure' },
  ),
  data_dir: configField(z.string().min(1), 'Directory for all data of the server.', {
    otherwise: '$XDG_DATA_HOME/windlass, or ~/.local/share/windlass',
    flag: '--data',
    holdsPath: true,
  }),
  drain_seconds: live(
    z.number().min(0).max(86_400).default(30),
    'Seconds that a stopping server waits for open calls to finish. 0: it cancels them immediately.',
  ),
  instance_name: configField(
    z
      .string()
      .default('')
      .superRefine((name, context) => {
        const problem = name === '' ? undefined : instanceNameProblem(name)
        if (problem !== undefined) context.addIssue({ code: 'custom', message: problem })
      }),
    'Instance for requests with an empty instance name. Both names use the same cache and quotas.',
  ),
  tls,
})

export const http = z
  .strictObject({
    health_address: configField(
      address().optional(),
      'Additional listen address only for /healthz and /readyz, without TLS, for probes without a client certificate.',
      { otherwise: 'probes use http_address', holdsPath: true },
    ),
    allowed_hosts: live(
      z.array(readableBy(configuredAuthority, 'a host name with an optional port')).default([]),
      'Host names accepted in requests, in addition to loopback names and the host of http_address.',
    ),
    allowed_origins: live(
      z.array(readableBy(configuredOrigin, 'an origin such as https://ci.example.com')).default([]),
      'Origins of web pages that may call the server (CORS), such as "https://ci.example.com".',
    ),
  })
  .prefault({})
