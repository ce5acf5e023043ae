/* libmodbus 3.1.6 as a device with four holding registers at addresses 16 to 19: modbus_reply gets a request of twenty
   symbolic bytes (slave, function, then what the function needs). Whatever is asked, memory beside the registers stays
   as it was. */
#include <time.h>

#include "modbus.h"
#include "modbus-private.h"

#include "score.h"

#define FIRST 16
#define COUNT 4
#define BESIDE 16

static struct {
    uint16_t before[BESIDE], mapped[COUNT], after[BESIDE];
} registers;

/* A serial line without hardware: replies go nowhere. */

static int build_response_basis(sft_t *sft, uint8_t *reply)
{
    reply[0] = (uint8_t)sft->slave;
    reply[1] = (uint8_t)sft->function;
    return 2;
}

static int prepare_response_tid(const uint8_t *request, int *length)
{
    (void)request, (void)length;
    return 0;
}

static int send_msg_pre(uint8_t *reply, int length)
{
    (void)reply;
    return length;
}

static ssize_t send_reply(modbus_t *context, const uint8_t *reply, int length)
{
    (void)context, (void)reply;
    return length;
}

static int flush(modbus_t *context)
{
    (void)context;
    return 0;
}

int nanosleep(const struct timespec *wanted, struct timespec *left)
{
    (void)wanted, (void)left;
    return 0;
}

static const modbus_backend_t backend = {
    .backend_type = _MODBUS_BACKEND_TYPE_RTU,
    .header_length = 1,
    .max_adu_length = 256,
    .build_response_basis = build_response_basis,
    .prepare_response_tid = prepare_response_tid,
    .send_msg_pre = send_msg_pre,
    .send = send_reply,
    .flush = flush,
};

int main(void)
{
    static uint8_t request[260];
    modbus_t context = {.backend = &backend};
    modbus_mapping_t mapping = {
        .start_registers = FIRST,
        .nb_registers = COUNT,
        .tab_registers = registers.mapped,
    };

    SYM_BYTES(request, 20);
    modbus_reply(&context, request, 20, &mapping);
    for (int i = 0; i < BESIDE; i++) {
        SCORE_ASSERT(registers.before[i] == 0);
        SCORE_ASSERT(registers.after[i] == 0);
    }
    return 0;
}
