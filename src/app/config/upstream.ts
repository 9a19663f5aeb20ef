import { z } from 'zod'
import { parseTarget } from '../../client/connection/target.ts'
import { instanceNameProblem } from '../../model/instance-name.ts'
import { configField, live } from './field.ts'

const file = () => z.string().min(1).optional()

const upstreamTls = z
  .strictObject({
    ca_file: live(file(), 'CA certificates in PEM that verify the certificate of the upstream server.', {
      otherwise: "the system's",
      holdsPath: true,
    }),
    cert_file: live(file(), 'Client certificate in PEM, for an upstream server that requires one.', {
      otherwise: 'none',
      holdsPath: true,
    }),
    key_file: live(file(), 'Private key of that certificate, in PEM.', { otherwise: 'none', holdsPath: true }),
    server_name: configField(file(), 'Host name that the certificate of the upstream server must contain.', {
      otherwise: 'the host in url',
    }),
  })
  .prefault({})
  .superRefine(({ cert_file, key_file }, context) => {
    if ((cert_file === undefined) === (key_file === undefined)) return
    context.addIssue({ code: 'custom', message: 'cert_file and key_file must be set together' })
  })

/** A second server that is read on a cache miss. */
export const upstream = z
  .strictObject({
    url: configField(
      z
        .string()
        .refine((text) => parseTarget(text) !== undefined, {
          error: 'expected grpc://host:port, grpcs://host:port or unix:/path',
        })
        .optional(),
      'Remote Execution API server that is read on a cache miss: grpc://, grpcs:// or unix:/path.',
      { otherwise: 'no upstream', holdsPath: true },
    ),
    instance: configField(
      z
        .string()
        .refine((name) => instanceNameProblem(name) === undefined, { error: 'expected the name of an instance' })
        .optional(),
      'Instance name for all requests to the upstream. All instances in space 0 then share its action results.',
      { otherwise: 'the instance name of the request' },
    ),
    write_through: configField(
      z.boolean().default(false),
      'If true, blobs and action results are also written to the upstream.',
    ),
    when_down: configField(
      z.enum(['absent', 'unavailable']).default('absent'),
      'Answer to a cache miss while the upstream is down: absent (not found, builds continue) or unavailable (error).',
    ),
    timeout_seconds: configField(
      z.number().min(0.1).max(3600).default(30),
      'Timeout in seconds for an answer of the upstream, and for each chunk of a stream.',
    ),
    headers: configField(
      z.record(z.string(), z.string()).default({}),
      'Headers of every call to the upstream, such as authorization = "Bearer …".',
    ),
    tls: upstreamTls,
  })
  .prefault({})
