import { z } from 'zod'
import { configField, live } from './field.ts'

/** Settings for running code snippets. */
export const snippets = z
  .strictObject({
    allow_bare: configField(
      z.boolean().default(false),
      'If true, workers without a sandbox run snippets directly on the machine, without isolation.',
      { flag: '--allow-bare-snippets' },
    ),
    callback_secret: live(
      z.string().min(8).optional(),
      'Secret for signing callbacks of requests that contain no secret of their own.',
      { otherwise: 'not signed' },
    ),
    callbacks_to_private_addresses: configField(
      z.boolean().default(false),
      'If true, callbacks may connect to loopback and private addresses. Use it only if all clients are trusted.',
    ),
  })
  .prefault({})
