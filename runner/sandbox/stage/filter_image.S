// The two filters that the build's filter maker wrote: arrays of struct sock_filter.
    .section .rodata
    .balign 8
    .globl pinfold_filter_closed_begin
pinfold_filter_closed_begin:
    .incbin PINFOLD_FILTER_CLOSED
    .globl pinfold_filter_closed_end
pinfold_filter_closed_end:
    .balign 8
    .globl pinfold_filter_nesting_begin
pinfold_filter_nesting_begin:
    .incbin PINFOLD_FILTER_NESTING
    .globl pinfold_filter_nesting_end
pinfold_filter_nesting_end:
    .section .note.GNU-stack,"",%progbits
