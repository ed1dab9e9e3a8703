// PINFOLD_STAGE_FILE is the path of the stripped stage two, set by runner/CMakeLists.txt.
    .section .rodata
    .balign 64
    .globl pinfold_stage_begin
pinfold_stage_begin:
    .incbin PINFOLD_STAGE_FILE
    .globl pinfold_stage_end
pinfold_stage_end:
    .byte 0
    .section .note.GNU-stack,"",%progbits
