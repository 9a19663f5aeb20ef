import { z } from 'zod'
import { reachProblem } from '../../base/address-rules.ts'
import { grantProblem } from '../../model/properties/network-grants.ts'
import { configField } from './field.ts'

/** A text that passes the check. */
const checked = (problemOf: (text: string) => string | undefined) =>
  z.string().superRefine((text, context) => {
    const message = problemOf(text)
    if (message !== undefined) context.addIssue({ code: 'custom', message })
  })

export const network = z
  .strictObject({
    allow: configField(
      z.array(checked(grantProblem)).default([]),
      'Doors whose tasks may use a network: rest, judge0, cwl, reapi or *; rest@a is for instance a alone.',
      { otherwise: 'none' },
    ),
    mode: configField(
      z.enum(['room', 'host', 'off']).default('room'),
      "What a worker gives such tasks: room (their own, public addresses only), host (all of the machine's) or off.",
    ),
    reach: configField(
      z.array(checked(reachProblem)).default([]),
      'Addresses, ranges (10.1.0.0/16) and host names that rooms and callbacks may reach though not public.',
      { otherwise: 'none' },
    ),
  })
  .prefault({})
